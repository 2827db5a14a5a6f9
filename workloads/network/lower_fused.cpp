// SPDX-License-Identifier: Apache-2.0
// Fused nodes, which passes have made: one operator each, or none.
#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"

namespace npu::network {
namespace {

// Reals that the cores compute with, all of the same type.
bool are_reals(const std::vector<Value>& values) {
  for (const auto& value : values) {
    const bool fits = !is_integer(value.type) && row_of(value.type).card.has_value();
    if (!fits || value.type != values.front().type) return false;
  }
  return true;
}

bool lower_fused_elements(Lowering& node) {
  const auto& in = node.inputs;
  if (!are_reals(in) || in[0].axes() == 0) return false;
  const auto expression = node.node.attribute("expression", std::string());
  const auto numbers = node.node.attribute("scalars", std::vector<float>());
  bool alike = true;
  for (const auto& value : in) alike = alike && value.sides == in[0].sides;
  if (!alike && in.size() != 2) return false;
  auto& steps = node.steps;
  node.outputs = {alike ? elementwise(steps, expression, in, numbers)
                        : broadcast(steps, expression, in[0], in[1], numbers)};
  return true;
}

bool is_of_columns(const Value& table, const Value& x) {
  return x.axes() > 0 && table.axes() == 1 && table.elements() == x.sides.back();
}

bool lower_fused_layer_norm(Lowering& node) {
  const auto& in = node.inputs;
  if (!are_reals(in) || !is_of_columns(in[1], in[0]) || !is_of_columns(in[2], in[0])) return false;
  const float epsilon = node.node.attribute("epsilon", 0.0F);
  node.outputs = {layer_norm(node.steps, in[0], in[0].axes() - 1, in[1], &in[2], epsilon)};
  return true;
}

bool lower_fused_rms_norm(Lowering& node) {
  const auto& in = node.inputs;
  if (!are_reals(in) || !is_of_columns(in[1], in[0])) return false;
  node.outputs = {rms_norm(node.steps, in[0], in[1], node.node.attribute("epsilon", 0.0F))};
  return true;
}

// With operands that lie by columns, and a bias.
bool lower_fused_matmul(Lowering& node) {
  const auto flag = [&node](const char* name) {
    return node.node.attribute(name, std::int64_t{0}) != 0;
  };
  auto& steps = node.steps;
  const auto& in = node.inputs;
  const bool a_lies = flag("transA"), b_lies = flag("transB");
  if (!are_reals(in) || in[0].axes() < 2 || in[1].axes() < 2) return false;
  const Value* const bias = in.size() > 2 ? &in[2] : nullptr;
  Value left = in[0];
  const bool rows_are_one = in[1].axes() == 2 && !a_lies;
  if (rows_are_one)
    left = steps.view(left, {left.elements() / left.sides.back(), left.sides.back()});
  const bool batches = left.axes() == in[1].axes() &&
                       std::equal(left.sides.begin(), left.sides.end() - 2, in[1].sides.begin());
  if (!batches || left.elements() == 0) return false;
  if (bias != nullptr && !takes_bias(left, in[1], b_lies, *bias)) return false;
  auto result = product(steps, left, in[1], a_lies, b_lies, bias);
  if (rows_are_one && !steps.failed()) {
    auto sides = in[0].sides;
    sides.back() = result.sides.back();
    result = steps.view(result, sides);
  }
  node.outputs = {result};
  return true;
}

}  // namespace

const std::vector<FusedRow> kFusedLowerings{
    {"FusedElements", lower_fused_elements},
    {"FusedLayerNormalization", lower_fused_layer_norm},
    {"FusedRmsNormalization", lower_fused_rms_norm},
    {"FusedMatMul", lower_fused_matmul},
    {"FusedAttention", lower_fused_attention},
};

}  // namespace npu::network
