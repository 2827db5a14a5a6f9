// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/graph.hpp"

#include <pybind11/stl.h>

#include <array>
#include <tuple>
#include <utility>

#include "apps/python/native/checked_self.hpp"
#include "apps/python/native/run_values.hpp"

namespace npu::python {
namespace py = pybind11;

namespace {

template <class T, std::size_t N>
T chosen(const std::array<std::pair<const char*, T>, N>& all, const char* what,
         const std::string& name) {
  std::string known;
  for (const auto& [text, value] : all) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw py::value_error(std::string(what) + ": found '" + name + "'; allowed: " + known);
}

constexpr std::array<std::pair<const char*, driver::TaskShape>, 4> kShapes = {
    {{"none", driver::TaskShape::kNone},
     {"aic", driver::TaskShape::kAic},
     {"aiv", driver::TaskShape::kAiv},
     {"mixed", driver::TaskShape::kMixed}}};
constexpr std::array<std::pair<const char*, driver::ArgumentKind>, 5> kKinds = {
    {{"scalar", driver::ArgumentKind::kScalar},
     {"input", driver::ArgumentKind::kInput},
     {"output", driver::ArgumentKind::kOutput},
     {"inout", driver::ArgumentKind::kInOut},
     {"no_dependency", driver::ArgumentKind::kNoDependency}}};
constexpr std::array<std::pair<const char*, abi::HandshakeKind>, 2> kHandshakes = {
    {{"register", abi::HandshakeKind::kRegister}, {"memory", abi::HandshakeKind::kMemory}}};

using ArgumentTuple = std::tuple<std::uint64_t, std::string, Bytes>;

std::uint32_t add_task(const std::shared_ptr<driver::TaskGraph>& graph,
                       std::optional<std::uint32_t> kernel, const std::string& shape,
                       const std::vector<ArgumentTuple>& arguments, std::uint32_t blocks,
                       bool cooperative, std::uint64_t predicate,
                       const std::vector<std::uint32_t>& after, std::uint64_t user) {
  std::vector<driver::TaskArgument> all;
  all.reserve(arguments.size());
  for (const auto& [word, kind, bytes] : arguments) {
    all.push_back({word, chosen(kKinds, "kind", kind), bytes});
  }
  driver::TaskOptions options;
  options.blocks = blocks;
  options.cooperative = cooperative;
  options.predicate = driver::DeviceAddress{predicate};
  options.user = user;
  for (const auto task : after) options.after.push_back({task});
  const auto known = kernel ? driver::KernelId{*kernel} : driver::kNoKernel;
  return value_of(object_of(graph).add(known, chosen(kShapes, "shape", shape), all, options)).value;
}

}  // namespace

py::dict run_graph(Card& card, const driver::TaskGraph& graph, const RunArguments& given) {
  driver::RunOptions options;
  options.block_dim = given.block_dim;
  options.aicpu_threads = given.aicpu_threads;
  options.handshake = chosen(kHandshakes, "handshake", given.handshake);
  options.single_issue = given.single_issue;
  options.profiling = given.profiling;
  options.pmu_group = given.pmu_group;
  options.dump_tensors = given.dump_tensors;
  if (given.watchdog_ps > 0) options.watchdog = Picoseconds(given.watchdog_ps);
  if (given.timeout_ps > 0) options.timeout = Picoseconds(given.timeout_ps);
  return to_dict(
      value_of(card.with([&](driver::DeviceContext& all) { return all.run(graph, options); })));
}

py::dict last_run(Card& card) {
  return to_dict(card.context().last_report());
}

void bind_graph(py::module_& module) {
  py::class_<driver::TaskGraph, std::shared_ptr<driver::TaskGraph>>(module, "TaskGraph")
      .def(py::init<>())
      .def("add", &add_task)
      .def("depend",
           [](const std::shared_ptr<driver::TaskGraph>& graph, std::uint32_t task,
              std::uint32_t producer) { check(object_of(graph).depend({task}, {producer})); })
      .def_property_readonly("tasks", on(&driver::TaskGraph::tasks))
      .def_property_readonly("edges", on(&driver::TaskGraph::edges));
}

}  // namespace npu::python
