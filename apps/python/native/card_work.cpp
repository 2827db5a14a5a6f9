// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/card_work.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <exception>
#include <optional>

#include "apps/python/native/checked_self.hpp"

namespace npu::python {
namespace py = pybind11;

namespace {

Status copy_in(HostRuntime& card, const CallTensor& tensor, std::vector<std::uint64_t>& words,
               std::vector<std::uint64_t>& owned) {
  if (tensor.on_card) {
    words.push_back(tensor.address);
    return {};
  }
  const auto memory = card.allocate_here(tensor.size);
  if (!memory) return forward_error(memory);
  owned.push_back(*memory);
  words.push_back(*memory);
  return tensor.to_card ? card.copy_to_here(*memory, tensor.address, tensor.size) : Status();
}

Status run(HostRuntime& card, const CallOrder& order, std::vector<std::uint64_t>& owned) {
  for (const auto& [number, image] : order.kernels) {
    if (auto ok = card.register_here(number, image); !ok) return ok;
  }
  std::vector<std::uint64_t> words;
  for (const auto& tensor : order.tensors) {
    if (auto ok = copy_in(card, tensor, words, owned); !ok) return ok;
  }
  const std::size_t tensors = words.size();
  words.insert(words.end(), order.scalars.begin(), order.scalars.end());
  auto ran =
      card.run_here(*order.orchestration, words, order.config, order.scheduler, order.executor);
  if (!ran) return ran;
  for (std::size_t i = 0; i < tensors; ++i) {
    const auto& tensor = order.tensors[i];
    if (!tensor.from_card || tensor.on_card) continue;
    if (auto ok = card.copy_from_here(tensor.address, words[i], tensor.size); !ok) return ok;
  }
  return {};
}

// Status as the answer of a piece.
Result<std::uint64_t> nothing_or(const Status& status) {
  if (!status) return forward_error(status);
  return 0;
}

}  // namespace

CardWork::CardWork(std::shared_ptr<Session> session)
    : session_(std::move(session)),
      shared_(std::make_shared<Shared>()),
      tasks_(std::make_unique<Tasks>()) {
  session_->call([this](platform::Platform& host) {
    shared_->mutex = host.tasks().make_mutex();
    shared_->changed = host.tasks().make_condition();
  });
}

CardWork::~CardWork() {
  // What is in flight goes on to its end, which the next call waits for.
  session_->end_later([tasks = tasks_.release(), shared = shared_] { delete tasks; });
}

std::uint64_t CardWork::begin(const std::shared_ptr<HostRuntime>& card, Body body) {
  auto& here = object_of(card);
  if (here.session() != session_) throw py::value_error("a card of another machine");
  const std::uint64_t number = next_++;
  check(session_->call([&](platform::Platform& host) -> Status {
    auto task = host.tasks().spawn(fmt::format("card work {}", number),
                                   [&host, number, card, shared = shared_, work = std::move(body)] {
                                     Ended end;
                                     end.number = number;
                                     end.begun = host.clock().now();
                                     try {
                                       end.value = work(*card);
                                     } catch (const std::exception& error) {
                                       end.value = fail(ErrorCode::kOutOfMemory, error.what());
                                     }
                                     end.ended = host.clock().now();
                                     shared->mutex->lock();
                                     shared->ended.push_back(std::move(end));
                                     shared->changed->notify_all();
                                     shared->mutex->unlock();
                                   });
    if (!task) return forward_error(task);
    (*tasks_)[number] = std::move(*task);
    return {};
  }));
  return number;
}

std::uint64_t CardWork::call(const std::shared_ptr<HostRuntime>& card, CallOrder order) {
  return begin(card, [order = std::make_shared<CallOrder>(std::move(order))](HostRuntime& here) {
    std::vector<std::uint64_t> owned;
    Status ran = run(here, *order, owned);
    for (const auto address : owned) {
      const auto freed = here.free_here(address);
      if (ran) ran = freed;
    }
    return nothing_or(ran);
  });
}

std::uint64_t CardWork::allocate(const std::shared_ptr<HostRuntime>& card, std::size_t size) {
  return begin(card, [size](HostRuntime& here) { return here.allocate_here(size); });
}

std::uint64_t CardWork::free(const std::shared_ptr<HostRuntime>& card, std::uint64_t address) {
  return begin(card, [address](HostRuntime& here) { return nothing_or(here.free_here(address)); });
}

std::uint64_t CardWork::copy_to(const std::shared_ptr<HostRuntime>& card, std::uint64_t device,
                                std::uint64_t host, std::size_t size) {
  return begin(
      card, [=](HostRuntime& here) { return nothing_or(here.copy_to_here(device, host, size)); });
}

std::uint64_t CardWork::copy_from(const std::shared_ptr<HostRuntime>& card, std::uint64_t host,
                                  std::uint64_t device, std::size_t size) {
  return begin(
      card, [=](HostRuntime& here) { return nothing_or(here.copy_from_here(host, device, size)); });
}

py::list CardWork::wait() {
  std::vector<Ended> ended;
  session_->call([&](platform::Platform&) {
    shared_->mutex->lock();
    while (shared_->ended.empty() && !tasks_->empty()) {
      static_cast<void>(shared_->changed->wait(*shared_->mutex, Instant::never()));
    }
    ended.swap(shared_->ended);
    shared_->mutex->unlock();
    for (const auto& each : ended) tasks_->erase(each.number);
  });
  py::list all;
  for (const auto& each : ended) {
    const bool ok = each.value.has_value();
    all.append(py::make_tuple(
        each.number, ok ? *each.value : 0, each.begun.since_power_up().count(),
        each.ended.since_power_up().count(),
        ok ? py::object(py::none()) : py::str(std::string(to_string(each.value.error().code))),
        ok ? std::string() : each.value.error().context));
  }
  return all;
}

namespace {

using KernelImages = std::vector<std::pair<std::uint32_t, py::bytes>>;
using TensorWords = std::vector<std::tuple<std::uint64_t, bool, Bytes, bool, bool>>;

std::uint64_t call_of(const std::shared_ptr<CardWork>& self,
                      const std::shared_ptr<HostRuntime>& card, const KernelImages& kernels,
                      const std::shared_ptr<Orchestration>& orchestration,
                      const TensorWords& tensors, const std::vector<std::uint64_t>& scalars,
                      const std::shared_ptr<npu_run_config>& config, const py::bytes& scheduler,
                      const py::bytes& executor) {
  CallOrder order;
  for (const auto& [number, image] : kernels) order.kernels.emplace_back(number, image);
  static_cast<void>(object_of(orchestration));
  order.orchestration = orchestration;
  for (const auto& [address, on_card, size, to_card, from_card] : tensors) {
    order.tensors.push_back({address, on_card, size, to_card, from_card});
  }
  order.scalars = scalars;
  order.config = object_of(config);
  order.scheduler = scheduler;
  order.executor = executor;
  return object_of(self).call(card, std::move(order));
}

}  // namespace

void bind_card_work(py::module_& module) {
  py::class_<CardWork, std::shared_ptr<CardWork>>(module, "CardWork")
      .def(py::init<std::shared_ptr<Session>>(), py::arg().none(false))
      .def("call", &call_of)
      .def("allocate", on(&CardWork::allocate))
      .def("free", on(&CardWork::free))
      .def("copy_to", on(&CardWork::copy_to))
      .def("copy_from", on(&CardWork::copy_from))
      .def("wait", on(&CardWork::wait));
}

}  // namespace npu::python
