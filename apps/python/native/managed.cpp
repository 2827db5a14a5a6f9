// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/managed.hpp"

#include <utility>

namespace npu::python {
namespace py = pybind11;

using driver::DeviceAddress;
using driver::MemoryLocation;

namespace {

MemoryLocation location_of(int device) {
  return device < 0 ? MemoryLocation::host()
                    : MemoryLocation::card(static_cast<std::uint32_t>(device));
}

driver::MemoryAdvice advice_of(const std::string& name) {
  if (name == "read_mostly") return driver::MemoryAdvice::kReadMostly;
  if (name == "preferred_location") return driver::MemoryAdvice::kPreferredLocation;
  if (name == "accessed_by") return driver::MemoryAdvice::kAccessedBy;
  throw py::value_error("advice: found '" + name +
                        "'; allowed: read_mostly, preferred_location, accessed_by");
}

}  // namespace

std::weak_ptr<ManagedCards> ManagedCards::only;

ManagedCards::ManagedCards(std::vector<std::shared_ptr<Card>> cards) : cards_(std::move(cards)) {
  for (const auto& card : cards_) card->count_host_memory(1);
}

std::shared_ptr<ManagedCards> ManagedCards::open(std::vector<std::shared_ptr<Card>> cards,
                                                 const py::buffer& pager) {
  if (auto known = only.lock()) return known;
  cards.at(0)->session().call([](platform::Platform&) {});  // the one before is closed by now
  const auto program = bytes_of(pager);
  std::shared_ptr<ManagedCards> made(new ManagedCards(std::move(cards)));
  auto view = driver::ProcessView::make(
      [all = made.get()](DeviceAddress at, bool write) { return all->touch(at, write); });
  made->view_ = value_of(std::move(view));
  driver::ManagedOptions options;
  options.pager = {static_cast<const std::byte*>(program.ptr),
                   static_cast<std::size_t>(program.size * program.itemsize)};
  options.view = made->view_.get();
  auto memory = made->session().call([&](platform::Platform&) {
    std::vector<driver::ManagedCard> all;
    for (const auto& card : made->cards_) {
      all.push_back({&card->device(), &card->context().process().space()});
    }
    return driver::ManagedMemory::open(all, options);
  });
  made->memory_ = value_of(std::move(memory));
  only = made;
  return made;
}

ManagedCards::~ManagedCards() {
  for (const auto& card : cards_) card->count_host_memory(-1);
  auto* const memory = memory_.release();
  auto* const view = view_.release();
  session().end_later([memory, view] {
    delete memory;
    delete view;
  });
}

void ManagedCards::before_fork() {
  const auto all = only.lock();
  if (all == nullptr || all->memory_ == nullptr) return;
  all->view_->before_fork(std::nullopt);
  if (all->session().closed() || all->session().ended()) return;
  auto pages =
      value_of(all->session().call([&](platform::Platform&) { return all->memory().touch_all(); }));
  all->view_->before_fork(std::move(pages));
}

void ManagedCards::in_child() {
  const auto all = only.lock();
  if (all != nullptr && all->view_ != nullptr) all->view_->in_child();
}

void ManagedCards::fault_in(DeviceAddress at, Bytes size, bool write) {
  check(session().call([&](platform::Platform&) { return view_->fault_in(at, size, write); }));
}

// A store of Python's, or of the driver's in a call.
Result<driver::Access> ManagedCards::touch(DeviceAddress at, bool write) {
  return session().in_task<driver::Access>([&] {
    return memory_ == nullptr ? fail(ErrorCode::kOutOfRange, "it is closed")
                              : memory_->touch(at, write);
  });
}

std::shared_ptr<Managed> Managed::allocate(std::shared_ptr<ManagedCards> cards, Bytes size) {
  const auto address = value_of(
      cards->session().call([&](platform::Platform&) { return cards->memory().allocate(size); }));
  return std::shared_ptr<Managed>(new Managed(std::move(cards), address, size));
}

Managed::~Managed() {
  cards_->session().end_later([memory = &cards_->memory(), address = address_] {
    static_cast<void>(memory->free(address));  // of a card that is gone nothing is left
  });
}

void Managed::prefetch(Bytes offset, Bytes size, int device) {
  check(cards_->session().call([&](platform::Platform&) -> Status {
    const auto begun = cards_->memory().prefetch(address_ + offset, size, location_of(device));
    if (!begun) return forward_error(begun);
    return cards_->memory().wait(*begun, Instant::never());
  }));
}

void Managed::advise(const std::string& advice, bool set, int device) {
  const auto what = advice_of(advice);
  check(cards_->session().call([&](platform::Platform&) {
    return cards_->memory().advise(address_, size_, what, set, location_of(device));
  }));
}

py::object Managed::location(Bytes offset) {
  const auto all = value_of(cards_->session().call(
      [&](platform::Platform&) { return cards_->memory().attributes(address_ + offset, 1); }));
  if (all.location.type == MemoryLocation::Type::kNone) return py::none();
  return py::int_(all.location == MemoryLocation::host() ? -1
                                                         : static_cast<int>(all.location.device));
}

}  // namespace npu::python
