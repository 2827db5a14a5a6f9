// SPDX-License-Identifier: Apache-2.0
// A convolution and the normalisation behind it, with fixed means and variances: the same
// convolution with other weights.
#include <cmath>

#include "workloads/network/passes/pass.hpp"

namespace npu::network::passes {
namespace {

// The constants that it takes, each of so many floats; empty: not of that kind.
std::vector<std::vector<float>> tables_of(const GraphEdit& edit, const Node& norm) {
  std::vector<std::vector<float>> tables;
  for (std::size_t i = 1; i < 5; ++i) {
    const auto* const tensor = i < norm.inputs.size() ? edit.constant(norm.inputs[i]) : nullptr;
    if (tensor == nullptr || tensor->type != ElementType::kFloat) return {};
    tables.push_back(tensor->values<float>());
    if (tables.back().size() != tables.front().size()) return {};
  }
  return tables;
}

struct Place {
  std::size_t conv, norm;
};

bool scale(GraphEdit& edit, const Place& place) {
  auto& conv = edit.node(place.conv);
  const auto& norm = edit.node(place.norm);
  const auto* const weights = edit.constant(conv.inputs[1]);
  const auto tables = tables_of(edit, norm);
  const bool trains = norm.attribute("training_mode", std::int64_t{0}) != 0;
  if (weights == nullptr || weights->type != ElementType::kFloat || tables.empty() || trains) {
    return false;
  }
  const std::size_t channels = tables[0].size();
  if (weights->sides.empty() || weights->sides[0] != channels || channels == 0) return false;
  std::vector<float> bias(channels);
  if (conv.inputs.size() > 2 && !conv.inputs[2].empty()) {
    const auto* const given = edit.constant(conv.inputs[2]);
    if (given == nullptr || given->elements() != channels) return false;
    bias = given->values<float>();
  }
  const float epsilon = norm.attribute("epsilon", 1e-5F);
  auto values = weights->values<float>();
  const std::size_t of_channel = values.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const float rate = tables[0][c] / std::sqrt(tables[3][c] + epsilon);
    for (std::size_t i = 0; i < of_channel; ++i) values[c * of_channel + i] *= rate;
    bias[c] = (bias[c] - tables[2][c]) * rate + tables[1][c];
  }
  // Other nodes may take the same weights.
  const auto name = norm.outputs[0] + "/" + conv.inputs[1];
  auto sides = weights->sides;
  edit.constants()[name] = Tensor::of(ElementType::kFloat, std::move(sides), values);
  edit.constants()[name + "/bias"] = Tensor::of(ElementType::kFloat, {channels}, bias);
  conv.inputs = {conv.inputs[0], name, name + "/bias"};
  return true;
}

}  // namespace

std::size_t scale_convolutions(GraphEdit& edit) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < edit.size(); ++i) {
    const auto& norm = edit.node(i);
    if (!is_op(norm, "BatchNormalization") || norm.inputs.size() < 5) continue;
    const auto conv = edit.maker(norm.inputs[0], "Conv");
    if (!conv || edit.uses(norm.inputs[0]) != 1 || edit.is_output(norm.inputs[0])) continue;
    if (norm.gives(1) || !scale(edit, {*conv, i})) continue;
    // The convolution makes what the normalisation made.
    const auto result = norm.outputs[0];
    edit.drop(i, "", "");
    edit.node(*conv).outputs = {result};
    ++found;
  }
  return found;
}

}  // namespace npu::network::passes
