// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/operators.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <optional>

#include "apps/python/native/checked_self.hpp"
#include "apps/python/native/device_time.hpp"
#include "kernels/operators/formula.hpp"
#include "kernels/operators/sources.hpp"

namespace npu::python {
namespace py = pybind11;

using operators::OperatorCall;

OperatorHost::OperatorHost(std::shared_ptr<Card> card, const std::string& folder,
                           const operators::CoreLimits& limits)
    : card_(std::move(card)) {
  parts_ =
      std::make_unique<Parts>(value_of(operators::find_toolchain()), jit::CacheOptions{folder});
  auto& context = card_->context();
  operators::LauncherOptions options;
  options.cores = operators::CardCores::of(context.clusters(), context.vector_cores(), limits);
  card_->session().call([&](platform::Platform& host) {
    parts_->launcher =
        value_of(operators::Launcher::open(context.process(), host.clock(), options));
    parts_->runner =
        std::make_unique<operators::OperatorRunner>(host, parts_->cache, *parts_->launcher);
  });
}

OperatorHost::~OperatorHost() {
  auto* const parts = parts_.release();
  if (parts != nullptr && !card_->closed()) {
    card_->session().end_later([parts] { delete parts; });
  }
}

void OperatorHost::close() {
  if (parts_ == nullptr) return;
  if (finding_) check_usable();
  if (card_->session().ended()) {
    static_cast<void>(parts_.release());
    return;
  }
  const auto parts = std::move(parts_);
  check(card_->session().call([&](platform::Platform&) {
    parts->graphs.clear();
    auto closed = parts->launcher->close();
    parts->runner.reset();
    parts->launcher.reset();
    return closed;
  }));
}

void OperatorHost::check_usable() const {
  if (parts_ == nullptr) throw std::runtime_error("the device is closed");
  if (finding_) throw std::runtime_error("a kernel is looked for, which a signal has interrupted");
  card_->session().check_usable();
}

// On the interpreter's own stack, without its lock: a compiler may take seconds, and handlers of
// signals run meanwhile. One that raises ends the compiler, and nothing else.
jit::Loaded OperatorHost::find(const OperatorCall& call) {
  std::optional<py::error_already_set> raised;
  const auto interrupted = [&raised] {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) raised.emplace();
    return raised.has_value();
  };
  finding_ = true;
  auto found = [&] {
    const py::gil_scoped_release unlocked;
    return parts_->runner->find(call, interrupted);
  }();
  finding_ = false;
  if (raised) throw py::error_already_set(*std::move(raised));
  return value_of(std::move(found));
}

namespace {

// Whatever the call throws, the machine does not tell it any more.
class Listening {
 public:
  explicit Listening(Session& session) : session_(session) { session_.listen(device_); }
  ~Listening() { session_.leave(device_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  Picoseconds time() const { return device_.time(); }

 private:
  Session& session_;
  DeviceTime device_;
};

}  // namespace

py::dict OperatorHost::run(const OperatorCall& call) {
  check_usable();
  auto found = find(call);
  const Listening listening(card_->session());
  Picoseconds total;
  const auto ran =
      value_of(card_->session().call([&](platform::Platform& host) -> Result<operators::Ran> {
        const auto begin = host.clock().now();
        auto started = parts_->runner->run(call, std::move(found));
        if (!started || parts_->captures) return started;
        if (auto ok = parts_->launcher->wait(); !ok) return forward_error(ok);
        total = host.clock().now() - begin;
        return started;
      }));
  constexpr const char* kOrigins[] = {"memory", "disk", "compiled"};
  py::dict all;
  all["key"] = ran.key;
  all["origin"] = kOrigins[static_cast<std::size_t>(ran.origin)];
  all["compile_ns"] = ran.compile_time.count();
  all["warnings"] = ran.warnings;
  all["workspace_bytes"] = ran.workspace_bytes;
  all["launches"] = ran.launches;
  py::dict host;
  for (std::size_t i = 0; i < operators::kLayers; ++i) {
    host[operators::kLayerNames[i]] = ran.times.of(static_cast<operators::Layer>(i)).count();
  }
  all["host_ps"] = host;
  all["device_ps"] = listening.time().count();
  all["total_ps"] = total.count();
  return all;
}

std::size_t OperatorHost::begin_capture() {
  check_usable();
  auto& graphs = parts_->graphs;
  check(card_->session().call([&](platform::Platform&) {
    auto graph = parts_->launcher->make_graph();
    auto begun = parts_->launcher->begin_capture(*graph);
    if (begun) graphs.push_back(std::move(graph));
    return begun;
  }));
  parts_->captures = true;
  return graphs.size() - 1;
}

void OperatorHost::end_capture() {
  check_usable();
  parts_->captures = false;
  check(
      card_->session().call([&](platform::Platform&) { return parts_->launcher->end_capture(); }));
}

py::dict OperatorHost::run_graph(std::size_t number) {
  check_usable();
  auto& graph = *parts_->graphs.at(number);
  const Listening listening(card_->session());
  Picoseconds total;
  check(card_->session().call([&](platform::Platform& host) -> Status {
    const auto begin = host.clock().now();
    if (auto ok = parts_->launcher->run(graph); !ok) return ok;
    auto ended = parts_->launcher->wait();
    total = host.clock().now() - begin;
    return ended;
  }));
  py::dict all;
  all["launches"] = graph.launches();
  all["device_ps"] = listening.time().count();
  all["total_ps"] = total.count();
  return all;
}

void OperatorHost::drop_graph(std::size_t number) {
  if (parts_ == nullptr || card_->session().ended()) return;
  card_->session().call([&](platform::Platform&) { parts_->graphs.at(number).reset(); });
}

py::dict OperatorHost::counters() const {
  const auto counters = parts_ == nullptr ? jit::Counters{} : parts_->cache.counters();
  py::dict all;
  all["compiled"] = counters.compiled;
  all["disk_hits"] = counters.disk_hits;
  all["memory_hits"] = counters.memory_hits;
  return all;
}

namespace {

// Fills in the call's shape from those of its inputs; the types of inputs, shapes and types of
// results.
py::tuple complete(OperatorCall& call, const std::vector<std::vector<std::uint64_t>>& shapes,
                   const std::map<std::string, std::uint64_t>& given) {
  const auto& row = *value_of(operators::find_operator(call.name));
  if (!row.described()) {
    throw py::value_error(call.name + " is npusim's own: it has a function in npusim.ops");
  }
  call.shape = value_of(operators::sides_of(row, shapes, given));
  const auto known = value_of(operators::normalise(call));
  py::list inputs, results;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    inputs.append(std::string(operators::type_name(operators::type_of_input(known, i))));
  }
  for (std::size_t i = 0; i < row.results.size(); ++i) {
    const auto shape = value_of(operators::numbers_of(row.results[i].shape, row, known.sides));
    results.append(py::make_tuple(py::tuple(py::cast(shape)),
                                  std::string(operators::type_name(type_of_result(known, i)))));
  }
  return py::make_tuple(inputs, results);
}

void bind_host(py::module_& module) {
  py::class_<operators::CoreLimits, std::shared_ptr<operators::CoreLimits>>(module, "CoreLimits")
      .def(py::init([](Bytes l1, Bytes l0a, Bytes l0b, Bytes l0c, Bytes ub, Bytes l2,
                       bool fixpipe_bf16, Bytes ub_to_l1) {
        return operators::CoreLimits{l1, l0a, l0b, l0c, ub, l2, fixpipe_bf16, ub_to_l1 != 0};
      }));
  py::class_<OperatorHost, std::shared_ptr<OperatorHost>>(module, "OperatorHost")
      .def(py::init([](std::shared_ptr<Card> card, const std::string& folder,
                       const std::shared_ptr<operators::CoreLimits>& limits) {
             return std::make_shared<OperatorHost>(std::move(card), folder, object_of(limits));
           }),
           py::arg().none(false), py::arg(), py::arg())
      .def("run",
           [](const std::shared_ptr<OperatorHost>& self,
              const std::shared_ptr<OperatorCall>& wanted) {
             return object_of(self).run(object_of(wanted));
           })
      .def("begin_capture", on(&OperatorHost::begin_capture))
      .def("end_capture", on(&OperatorHost::end_capture))
      .def("run_graph", on(&OperatorHost::run_graph))
      .def("drop_graph", on(&OperatorHost::drop_graph))
      .def("counters", on(&OperatorHost::counters))
      .def("close", on(&OperatorHost::close));
}

}  // namespace

void bind_operators(py::module_& module) {
  // The type of an operator's inputs whose description names none: that of the first such array.
  module.def("type_of_call", [](const std::string& name, const std::vector<std::string>& types) {
    const auto& row = *value_of(operators::find_operator(name));
    for (std::size_t i = 0; i < std::min(types.size(), row.inputs.size()); ++i) {
      if (row.inputs[i].dtype.empty()) return types[i];
    }
    return types.empty() ? std::string("float16") : types.front();
  });
  // Before anything is compiled. `given`: scalars of the call; `name`: what the caller calls it.
  module.def("check_formula", [](const std::shared_ptr<OperatorCall>& call, std::size_t given,
                                 const std::string& name) {
    const auto good = operators::check_formula(object_of(call), given, name);
    // What is wrong with operators themselves the call says.
    if (good || good.error().code != ErrorCode::kInvalidArgument) return;
    throw py::value_error(good.error().context);
  });
  module.def("complete_call", [](const std::shared_ptr<OperatorCall>& call,
                                 const std::vector<std::vector<std::uint64_t>>& shapes,
                                 const std::map<std::string, std::uint64_t>& given) {
    return complete(object_of(call), shapes, given);
  });
  py::class_<OperatorCall, std::shared_ptr<OperatorCall>> call(module, "OperatorCall");
  call.def(py::init<>());
  define_field(call, "name", &OperatorCall::name);
  define_field(call, "shape", &OperatorCall::shape);
  define_field(call, "dtype", &OperatorCall::dtype);
  define_field(call, "out_dtype", &OperatorCall::out_dtype);
  define_field(call, "bias_dtype", &OperatorCall::bias_dtype);
  define_field(call, "transpose_a", &OperatorCall::transpose_a);
  define_field(call, "transpose_b", &OperatorCall::transpose_b);
  define_field(call, "format_a", &OperatorCall::format_a);
  define_field(call, "format_b", &OperatorCall::format_b);
  define_field(call, "inputs", &OperatorCall::inputs);
  define_field(call, "results", &OperatorCall::results);
  define_field(call, "slice_k", &OperatorCall::slice_k);
  define_field(call, "splits", &OperatorCall::splits);
  define_field(call, "expression", &OperatorCall::expression);
  define_field(call, "scalars", &OperatorCall::scalars);
  define_field(call, "other_shape", &OperatorCall::other_shape);
  define_field(call, "condition_shape", &OperatorCall::condition_shape);
  define_field(call, "order", &OperatorCall::order);
  define_field(call, "maximize", &OperatorCall::maximize);
  define_field(call, "epsilon", &OperatorCall::epsilon);
  define_field(call, "scale", &OperatorCall::scale);
  define_field(call, "causal", &OperatorCall::causal);
  define_field(call, "whole_mask", &OperatorCall::whole_mask);
  define_field(call, "heads_inside", &OperatorCall::heads_inside);
  define_field(call, "activate_left", &OperatorCall::activate_left);
  define_field(call, "cores", &OperatorCall::cores);
  bind_host(module);
}

}  // namespace npu::python
