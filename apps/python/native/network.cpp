// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/network.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "apps/python/native/checked_self.hpp"
#include "workloads/network/host_nodes.hpp"
#include "workloads/network/onnx_file.hpp"
#include "workloads/network/passes/pass.hpp"

namespace npu::python {
namespace py = pybind11;

using network::ElementType;
using network::Tensor;
using network::Tensors;

namespace {

// What the card's machine tells of, as long as it lives, whatever is thrown.
class TimerScope {
 public:
  TimerScope(Session& session, platform::TraceSink& sink) : session_(session), sink_(sink) {
    session_.listen(sink_);
  }
  ~TimerScope() { session_.leave(sink_); }
  TimerScope(const TimerScope&) = delete;
  TimerScope& operator=(const TimerScope&) = delete;

 private:
  Session& session_;
  platform::TraceSink& sink_;
};

std::vector<std::string> known_passes(const std::vector<std::string>& names) {
  const auto& all = network::passes::all_passes();
  for (const auto& name : names) {
    const bool is_known =
        std::any_of(all.begin(), all.end(), [&name](const auto& row) { return row.name == name; });
    if (is_known) continue;
    std::string allowed;
    for (const auto& row : all) allowed += (allowed.empty() ? "" : ", ") + std::string(row.name);
    throw py::value_error("passes: found '" + name.substr(0, 40) + "'; allowed: " + allowed);
  }
  return names;
}

ElementType type_named(const std::string& name) {
  for (const auto& row : network::kElementTypes) {
    if (row.name == name) return row.type;
  }
  throw py::value_error("no type '" + name.substr(0, 40) + "'");
}

// Strings as a list of str.
py::object contents_of(const Tensor& tensor) {
  if (tensor.type == ElementType::kString) return py::cast(tensor.strings);
  return py::bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
}

// (name, type, sides, bytes); of strings a list of str
Tensors tensors_of(const py::list& rows) {
  Tensors all;
  for (const auto& each : rows) {
    const auto row = each.cast<py::tuple>();
    Tensor tensor;
    tensor.type = type_named(row[1].cast<std::string>());
    tensor.sides = row[2].cast<std::vector<std::uint64_t>>();
    if (tensor.type == ElementType::kString) {
      tensor.strings = row[3].cast<std::vector<std::string>>();
      all[row[0].cast<std::string>()] = std::move(tensor);
      continue;
    }
    const auto bytes = row[3].cast<std::string>();
    if (bytes.size() != tensor.elements() * network::row_of(tensor.type).bytes) {
      throw py::value_error("bytes that are not those of the sides");
    }
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
    tensor.bytes.assign(begin, begin + bytes.size());
    all[row[0].cast<std::string>()] = std::move(tensor);
  }
  return all;
}

}  // namespace

NetworkHost::NetworkHost(std::shared_ptr<OperatorHost> host, const std::string& file,
                         const std::vector<std::string>& passes, bool unmapped_on_host,
                         std::string aicpu_program)
    : host_(std::move(host)) {
  auto& operators = object_of(host_);
  operators.check_usable();
  const auto wanted = known_passes(passes);
  auto parts = std::make_unique<Parts>(value_of(network::read_model(file)));
  network::passes::run_passes(parts->graph, wanted);
  if (unmapped_on_host) network::place_on_host(parts->graph);
  check(network::check_mapped(parts->graph));
  parts->aicpu_program = std::move(aicpu_program);
  parts_ = std::move(parts);
  // Like a workload's: a signal that comes while a kernel is compiled is looked at behind it.
  check(operators.session().call([&](platform::Platform& platform) {
    auto opened = open(*parts_, operators, platform);
    if (!opened) parts_.reset();
    return opened;
  }));
}

Status NetworkHost::open(Parts& parts, OperatorHost& host, platform::Platform& platform) {
  network::CardOptions options;
  options.aicpu_program = [&parts]() -> Result<ConstByteSpan> {
    parts.used_aicpu = true;
    const auto& program = parts.aicpu_program;
    return ConstByteSpan{reinterpret_cast<const std::byte*>(program.data()), program.size()};
  };
  auto card = network::CardRunner::open({platform, host.process(), host.runner(), host.launcher()},
                                        std::move(options));
  if (!card) return forward_error(card);
  parts.card = std::move(*card);
  parts.steps = std::make_unique<network::Steps>(*parts.card);
  parts.timer = std::make_unique<network::NodeTimer>(platform.clock(), *parts.card, host.card());
  parts.network = std::make_unique<network::Network>(parts.graph, *parts.steps, parts.timer.get());
  if (auto ok = parts.network->prepare(); !ok) return ok;
  return parts.card->wait();
}

NetworkHost::~NetworkHost() {
  auto* const parts = parts_.release();
  if (parts != nullptr && host_ != nullptr && !host_->closed()) {
    host_->session().end_later([parts] { delete parts; });
  }
}

void NetworkHost::close() {
  if (parts_ == nullptr) return;
  if (host_->closed() || host_->session().ended()) {
    static_cast<void>(parts_.release());
    return;
  }
  host_->check_usable();
  host_->session().call([&](platform::Platform&) { parts_.reset(); });
}

NetworkHost::Parts& NetworkHost::usable() const {
  if (parts_ == nullptr || host_->closed()) throw std::runtime_error("the network is closed");
  host_->check_usable();
  return *parts_;
}

py::list NetworkHost::inputs() const {
  py::list all;
  for (const auto& input : usable().graph.inputs) {
    const py::object sides = input.has_shape ? py::object(py::cast(input.sides)) : py::none();
    all.append(py::make_tuple(input.name, std::string(network::row_of(input.type).name), sides));
  }
  return all;
}

py::list NetworkHost::run(const py::list& inputs) {
  auto& parts = usable();
  const auto given = tensors_of(inputs);
  const auto found = [&] {
    const TimerScope listening(host_->session(), *parts.timer);
    return value_of(host_->session().call([&](platform::Platform&) -> Result<Tensors> {
      parts.timer->start();
      auto results = parts.network->run(given);
      if (results) {
        parts.times = parts.timer->stop();
      } else {
        static_cast<void>(parts.card->wait());  // what is under way ends first
      }
      return results;
    }));
  }();
  py::list all;
  for (const auto& output : parts.graph.outputs) {
    const auto& tensor = found.at(output.name);
    all.append(py::make_tuple(output.name, std::string(network::row_of(tensor.type).name),
                              tensor.sides, contents_of(tensor)));
  }
  return all;
}

py::dict NetworkHost::times() const {
  const auto& parts = usable();
  const auto& times = parts.times;
  const Picoseconds duration = times.whole.end - times.whole.begin;
  py::list nodes;
  Picoseconds card{}, gap = times.rest.time();
  std::uint64_t launches = 0;
  for (const auto& node : times.nodes) {
    const auto& known = parts.graph.nodes[node.node];
    py::dict row;
    row["name"] = known.name;
    row["operator"] = known.op;
    row["launches"] = node.operators;
    row["host_ps"] = node.host.time().count();
    row["wait_ps"] = node.waited.time().count();
    row["device_ps"] = node.card.time().count();
    row["gap_ps"] = node.gap.time().count();
    row["on_host"] = known.on_host;
    nodes.append(row);
    card += node.card.time(), gap += node.gap.time(), launches += node.operators;
  }
  py::dict all;
  all["launches"] = launches;
  all["total_ps"] = duration.count();
  all["device_ps"] = card.count();
  all["gap_ps"] = gap.count();
  all["host_ps"] = (duration - times.waited.time()).count();
  all["wait_ps"] = times.waited.time().count();
  all["peak_bytes"] = times.peak;
  all["nodes"] = nodes;
  return all;
}

bool NetworkHost::used_aicpu() const {
  return parts_ != nullptr && parts_->used_aicpu;
}

void bind_network(py::module_& module) {
  module.def("network_passes", [] {
    std::vector<std::string> names;
    for (const auto& row : network::passes::all_passes()) names.emplace_back(row.name);
    return names;
  });
  py::class_<NetworkHost, std::shared_ptr<NetworkHost>>(module, "NetworkHost")
      .def(py::init([](std::shared_ptr<OperatorHost> host, const std::string& file,
                       const std::vector<std::string>& passes, bool unmapped_on_host,
                       const py::bytes& program) {
             return std::make_shared<NetworkHost>(std::move(host), file, passes, unmapped_on_host,
                                                  std::string(program));
           }),
           py::arg().none(false), py::arg(), py::arg(), py::arg(), py::arg())
      .def("inputs", on(&NetworkHost::inputs))
      .def("run", on(&NetworkHost::run))
      .def("times", on(&NetworkHost::times))
      .def("close", on(&NetworkHost::close))
      .def_property_readonly("used_aicpu", on(&NetworkHost::used_aicpu));
}

}  // namespace npu::python
