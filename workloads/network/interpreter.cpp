// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "npu/base/shortened.hpp"
#include "workloads/network/host_nodes.hpp"
#include "workloads/network/lowering.hpp"

namespace npu::network {
namespace {

std::string title_of(const Node& node) {
  const auto domain = node.domain.empty() ? "" : node.domain + ".";
  return node.name.empty() ? domain + node.op
                           : fmt::format("{}{} '{}'", domain, node.op, node.name);
}

}  // namespace

Status check_mapped(const Graph& graph) {
  std::string missing;
  std::size_t count = 0, possible = 0;
  for (const auto& node : graph.nodes) {
    if (node.on_host || !is_unmapped(node)) continue;
    missing += (missing.empty() ? "" : ", ") + title_of(node);
    ++count;
    if (find_on_host(node) != nullptr) ++possible;
  }
  if (count == 0) return {};
  return fail(
      ErrorCode::kUnsupported,
      fmt::format("{} of {} nodes cannot be mapped to operators: {}{}", count, graph.nodes.size(),
                  missing, possible == count ? "; unmapped=host computes them on the host" : ""));
}

Network::Network(const Graph& graph, Steps& steps, NetworkListener* listener)
    : graph_(graph), steps_(steps), listener_(listener) {
  for (const auto& node : graph.nodes) count(node, uses_, 1);
  for (const auto& output : graph.outputs) ++uses_[output.name];
}

void Network::count(const Node& node, Uses& uses, std::size_t by) {
  for (const auto& input : node.inputs) uses[input] += by;
}

Status Network::prepare() {
  if (auto ok = check_mapped(graph_); !ok) return ok;
  for (const auto& [name, tensor] : graph_.constants) {
    kept_[name] = steps_.constant(tensor);
    if (steps_.failed()) return fail_in(fmt::format("constant '{}'", name));
  }
  values_ = kept_;
  left_ = uses_;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const auto& node = graph_.nodes[i];
    if (!node.prepared) continue;
    if (auto ok = visit(i); !ok) return ok;
    for (const auto& output : node.outputs) {
      if (!output.empty()) kept_[output] = values_.at(output);
    }
  }
  values_.clear();
  for (const auto& node : graph_.nodes) read_mask(node);
  return steps_.status();
}

// Of constants: which of them the operator of attention has is known from their elements.
void Network::read_mask(const Node& node) {
  if (node.op != "FusedAttention" || node.inputs.size() < 4) return;
  const auto found = kept_.find(node.inputs[3]);
  if (found == kept_.end() || found->second.known != nullptr) return;
  found->second.known = std::make_shared<const Tensor>(steps_.download(found->second));
}

Result<Tensors> Network::run(const Tensors& inputs) {
  steps_.forget_error();  // of a run before
  visits_.clear();
  values_ = kept_;
  left_ = uses_;
  if (auto ok = take_inputs(inputs); !ok) return forward_error(ok);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].prepared) continue;
    if (auto ok = visit(i); !ok) return forward_error(ok);
  }
  return outputs();
}

Status Network::visit(std::size_t place) {
  const auto before = steps_.count();
  visits_.push_back({before, place});
  if (listener_ != nullptr) listener_->begin(place);
  if (auto ok = run_node(graph_.nodes[place]); !ok) return ok;
  if (listener_ != nullptr) listener_->end(place, steps_.count() - before);
  return {};
}

// Sides may be others than the model declares: what nodes cannot take, they refuse.
Status Network::take_inputs(const Tensors& inputs) {
  for (const auto& wanted : graph_.inputs) {
    const auto found = inputs.find(wanted.name);
    if (found == inputs.end()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("no input '{}'", wanted.name));
    }
    if (found->second.type != wanted.type) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("input '{}': found {}, and the model has {}", wanted.name,
                              row_of(found->second.type).name, row_of(wanted.type).name));
    }
    keep(wanted.name, steps_.upload(found->second), {});
    if (steps_.failed()) return fail_in(fmt::format("input '{}'", wanted.name));
  }
  return {};
}

Status Network::run_node(const Node& node) {
  Lowering lowering{steps_, node, graph_.opset, {}, {}, {}};
  for (const auto& input : node.inputs) {
    lowering.given.push_back(!input.empty());
    lowering.inputs.push_back(input.empty() ? Value{} : values_.at(input));
  }
  if (node.parts.empty()) {
    if (auto ok = lower(lowering); !ok) return ok;
  } else if (!find_fused(node)->lower(lowering)) {
    if (auto ok = run_parts(node); !ok) return ok;
    lowering.outputs = {values_.at(node.outputs[0])};
  }
  if (steps_.failed()) return fail_in(title_of(node));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= lowering.outputs.size()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: no result '{}'", title_of(node), node.outputs[i]));
    }
    keep(node.outputs[i], lowering.outputs[i], lowering.inputs);
  }
  for (const auto& input : node.inputs) let_go(input);
  return {};
}

// What the card finds is found later: it is of the node whose step has not ended, or of a copy
// before that. Without such a step it is of a copy behind all of them.
Status Network::fail_in(const std::string& where) const {
  const auto& error = steps_.status().error();
  const bool is_late = error.code == ErrorCode::kDeviceFault || error.code == ErrorCode::kTimeout;
  std::string place = where;
  if (is_late && !visits_.empty()) {
    const auto ended = steps_.ended();
    const auto behind =
        std::partition_point(visits_.begin(), visits_.end(),
                             [ended](const Visit& visit) { return visit.first <= ended; });
    const bool is_known = ended < steps_.count() && behind != visits_.begin();
    const auto cause = is_known ? title_of(graph_.nodes[std::prev(behind)->node]) : "";
    if (!is_known) {
      place += " or before it";
    } else if (cause != where) {
      place = fmt::format("{}, found at {}", cause, where);
    }
  }
  return fail(error.code, fmt::format("{}: {}", place, error.context));
}

void Network::keep(const std::string& name, Value value, const std::vector<Value>& inputs) {
  const bool is_new = value.memory != nullptr &&
                      std::none_of(inputs.begin(), inputs.end(), [&value](const Value& input) {
                        return input.memory == value.memory;
                      });
  if (listener_ != nullptr && is_new) listener_->made(name, value.bytes());
  values_[name] = std::move(value);
}

Status Network::lower(Lowering& lowering) {
  const auto& node = lowering.node;
  const auto* const row = node.on_host ? nullptr : find_lowering(node);
  std::size_t needs = row == nullptr ? find_on_host(node)->needs : row->needs;
  if (needs == kAllInputs) needs = std::max<std::size_t>(1, node.inputs.size());
  for (std::size_t i = 0; i < needs; ++i) {
    if (lowering.has(i)) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: input {} is not given", title_of(node), i));
  }
  if (row == nullptr) {
    run_on_host(lowering);
  } else {
    row->lower(lowering);
  }
  return {};
}

// Inputs come from the card and results go there, unless all of them are known.
void Network::run_on_host(Lowering& lowering) {
  const auto& inputs = lowering.inputs;
  HostNode node{lowering.node, lowering.opset, {}, lowering.given, {}};
  bool is_known = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    is_known = is_known && (!lowering.has(i) || inputs[i].known != nullptr);
    node.inputs.push_back(steps_.download(inputs[i]));
    if (inputs[i].type == ElementType::kString) node.refuse("strings");
  }
  if (steps_.failed()) return;
  if (node.status) find_on_host(node.node)->compute(node);
  if (!node.status) return steps_.fail_with(node.status.error());
  steps_.compute(kInstructionsPerVisit * node.visits);
  for (const auto& tensor : node.outputs) {
    lowering.outputs.push_back(is_known ? steps_.constant(tensor) : steps_.upload(tensor));
  }
}

// The fused node holds its inputs while they run.
Status Network::run_parts(const Node& node) {
  for (const auto& part : node.parts) count(part, left_, 1);
  ++left_[node.outputs[0]];
  for (const auto& part : node.parts) {
    if (auto ok = run_node(part); !ok) return ok;
  }
  --left_[node.outputs[0]];
  return {};
}

// Memory of what nobody takes any more is given back; constants stay: parts of a fused node may
// take one that the node itself does not.
void Network::let_go(const std::string& name) {
  if (--left_[name] != 0 || kept_.count(name) != 0) return;
  values_.erase(name);
  if (listener_ != nullptr && !name.empty()) listener_->gone(name);
}

Result<Tensors> Network::outputs() {
  Tensors all;
  for (const auto& output : graph_.outputs) {
    all[output.name] = steps_.download(values_.at(output.name));
    if (!steps_.failed()) continue;
    const auto failed = fail_in(fmt::format("result '{}'", output.name));
    return tl::unexpected(failed.error());
  }
  values_.clear();
  return all;
}

}  // namespace npu::network
