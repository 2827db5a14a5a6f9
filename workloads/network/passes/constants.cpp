// SPDX-License-Identifier: Apache-2.0
// Nodes that compute nothing, or the same in each run.
#include <algorithm>
#include <optional>
#include <set>

#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {

std::size_t drop_identities(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    const auto& node = edit.node(i);
    const bool drops_nothing = is_op(node, "Dropout") && !node.gives(1) && node.inputs.size() < 3;
    if (!is_op(node, "Identity") && !drops_nothing) continue;
    const auto output = node.outputs.at(0), input = node.inputs.at(0);
    if (input.empty() || edit.is_output(output)) continue;
    edit.drop(i, output, input);
    ++found;
  }
  return found;
}

namespace {

// What a Constant holds, if it is one tensor or number.
std::optional<Tensor> held_by(const Node& node) {
  if (!is_op(node, "Constant") || node.outputs.empty()) return std::nullopt;
  for (const auto& [key, value] : node.attributes) {
    if (const auto* const tensor = std::get_if<Tensor>(&value)) return *tensor;
    if (const auto* const real = std::get_if<float>(&value)) {
      return Tensor::of<float>(ElementType::kFloat, {}, {*real});
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
      return Tensor::of<std::int64_t>(ElementType::kInt64, {}, {*whole});
    }
  }
  return std::nullopt;
}

}  // namespace

std::size_t keep_constants(GraphEdit& edit) {
  std::set<std::string> known{""};  // an input that is not given
  for (const auto& [name, tensor] : edit.constants()) known.insert(name);
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    auto& node = edit.node(i);
    if (auto tensor = held_by(node); tensor && !edit.is_output(node.outputs[0])) {
      const auto name = node.outputs[0];
      edit.constants()[name] = std::move(*tensor);
      known.insert(name);
      edit.drop(i, name, name);
      ++found;
      continue;
    }
    const bool is_known = std::all_of(node.inputs.begin(), node.inputs.end(),
                                      [&](const auto& input) { return known.count(input) != 0; });
    if (!is_known) continue;
    node.prepared = true;
    known.insert(node.outputs.begin(), node.outputs.end());
    ++found;
  }
  return found;
}

}  // namespace npu::network::passes
