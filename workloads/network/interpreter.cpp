// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/shortened.hpp"
#include "workloads/network/lowering.hpp"

namespace npu::network {
namespace {

std::string title_of(const Node& node) {
  const auto domain = node.domain.empty() ? "" : node.domain + ".";
  return node.name.empty() ? domain + node.op
                           : fmt::format("{}{} '{}'", domain, node.op, node.name);
}

class Run {
 public:
  Run(const Graph& graph, Steps& steps) : graph_(graph), steps_(steps) {
    for (const auto& node : graph.nodes) {
      for (const auto& input : node.inputs) ++uses_[input];
    }
    for (const auto& output : graph.outputs) ++uses_[output.name];
  }

  Status take_inputs(const Tensors& inputs) {
    for (const auto& wanted : graph_.inputs) {
      const auto found = inputs.find(wanted.name);
      if (found == inputs.end()) {
        return fail(ErrorCode::kInvalidArgument, fmt::format("no input '{}'", wanted.name));
      }
      if (auto fits = check_input(wanted, found->second); !fits) return fits;
      values_[wanted.name] = steps_.upload(found->second);
    }
    for (const auto& [name, tensor] : graph_.constants) values_[name] = steps_.constant(tensor);
    return steps_.status();
  }

  Status run_node(const Node& node) {
    Lowering lowering{steps_, node, graph_.opset, {}, {}, {}};
    for (const auto& input : node.inputs) {
      lowering.given.push_back(!input.empty());
      lowering.inputs.push_back(input.empty() ? Value{} : values_.at(input));
    }
    const auto& row = *find_lowering(node);
    const std::size_t needs =
        row.needs == kAllInputs ? std::max<std::size_t>(1, node.inputs.size()) : row.needs;
    for (std::size_t i = 0; i < needs; ++i) {
      if (lowering.has(i)) continue;
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: input {} is not given", title_of(node), i));
    }
    row.lower(lowering);
    if (steps_.failed()) {
      const auto& error = steps_.status().error();
      return fail(error.code, fmt::format("{}: {}", title_of(node), error.context));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (i >= lowering.outputs.size()) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{}: no result '{}'", title_of(node), node.outputs[i]));
      }
      values_[node.outputs[i]] = lowering.outputs[i];
    }
    for (const auto& input : node.inputs) let_go(input);
    return {};
  }

  Result<Tensors> outputs() {
    Tensors all;
    for (const auto& output : graph_.outputs) {
      all[output.name] = steps_.download(values_.at(output.name));
    }
    if (steps_.failed()) return tl::unexpected(steps_.status().error());
    return all;
  }

 private:
  // Sides may be others than the model declares: what nodes cannot take, they refuse.
  static Status check_input(const NamedValue& wanted, const Tensor& given) {
    if (given.type == wanted.type) return {};
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("input '{}': found {}, and the model has {}", wanted.name,
                            row_of(given.type).name, row_of(wanted.type).name));
  }

  // Memory of what nobody takes any more is given back.
  void let_go(const std::string& name) {
    if (--uses_[name] == 0) values_.erase(name);
  }

  const Graph& graph_;
  Steps& steps_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::size_t> uses_;
};

}  // namespace

Status check_mapped(const Graph& graph) {
  std::string missing;
  std::size_t count = 0;
  constexpr std::size_t kNamed = 20;
  for (const auto& node : graph.nodes) {
    if (find_lowering(node) != nullptr) continue;
    if (count++ < kNamed) missing += (missing.empty() ? "" : ", ") + title_of(node);
  }
  if (count == 0) return {};
  return fail(ErrorCode::kUnsupported,
              fmt::format("{} of {} nodes cannot be mapped to operators: {}{}", count,
                          graph.nodes.size(), missing, count > kNamed ? ", ..." : ""));
}

Result<Tensors> run_network(const Graph& graph, const Tensors& inputs, Steps& steps,
                            const NodeListener& listener) {
  if (auto ok = check_mapped(graph); !ok) return forward_error(ok);
  Run run(graph, steps);
  if (auto ok = run.take_inputs(inputs); !ok) return forward_error(ok);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto before = steps.count();
    if (auto ok = run.run_node(graph.nodes[i]); !ok) return forward_error(ok);
    if (listener) listener(i, steps.count() - before);
  }
  return run.outputs();
}

}  // namespace npu::network
