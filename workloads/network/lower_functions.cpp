// SPDX-License-Identifier: Apache-2.0
// Activations, functions that the AICPUs compute, and operators on integers of any type.
#include <limits>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/on_aicpu.hpp"

namespace npu::network {
namespace {

using Operation = abi::TensorOperation;

template <Operation kOperation>
void on_aicpus(Lowering& node) {
  const auto& x = node.inputs[0];
  node.outputs = {on_aicpu(node.steps, kOperation, x.type, x, x)};
}

void lower_hard_sigmoid(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 0.2F), beta = node.node.attribute("beta", 0.5F);
  node.outputs = {
      elementwise(node.steps, "min(max(a*s+s1,s2),s3)", {node.inputs[0]}, {alpha, beta, 0, 1})};
}

void lower_hard_swish(Lowering& node) {
  node.outputs = {elementwise(node.steps, "a*min(max(a*s+s1,s2),s3)", {node.inputs[0]},
                              {1.0F / 6, 0.5F, 0, 1})};
}

void lower_selu(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 1.67326319217681884765625F);
  const float gamma = node.node.attribute("gamma", 1.05070102214813232421875F);
  node.outputs = {elementwise(node.steps, "where(a>0,a*s,s1*(exp(a)-s2))", {node.inputs[0]},
                              {gamma, gamma * alpha, 1})};
}

void lower_celu(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 1.0F);
  node.outputs = {elementwise(node.steps, "where(a>0,a,s*(exp(a*s1)-s2))", {node.inputs[0]},
                              {alpha, 1 / alpha, 1})};
}

void lower_thresholded_relu(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 1.0F);
  node.outputs = {elementwise(node.steps, "where(a>s,a,0)", {node.inputs[0]}, {alpha})};
}

void lower_shrink(Lowering& node) {
  const float lambda = node.node.attribute("lambd", 0.5F), bias = node.node.attribute("bias", 0.0F);
  node.outputs = {elementwise(node.steps, "where(a<s1,a+s2,where(a>s,a-s2,0))", {node.inputs[0]},
                              {lambda, -lambda, bias})};
}

void lower_prelu(Lowering& node) {
  node.outputs = {broadcast(node.steps, "where(a<0,a*b,a)", node.inputs[0], node.inputs[1])};
}

void lower_mish(Lowering& node) {
  node.outputs = {elementwise(node.steps, "mish(a)", {node.inputs[0]})};
}

void truth(Lowering& node, const std::string& expression, const std::vector<float>& scalars) {
  const auto& x = node.inputs[0];
  node.outputs = {
      node.steps.view_as(elementwise_into(node.steps, ElementType::kInt8, expression, {x}, scalars),
                         ElementType::kBool)};
}

void lower_is_nan(Lowering& node) {
  truth(node, "where(a==a,0,1)", {});
}

void lower_is_inf(Lowering& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool above = node.node.attribute("detect_positive", std::int64_t{1}) != 0;
  const bool below = node.node.attribute("detect_negative", std::int64_t{1}) != 0;
  truth(node, "where(a==s,s2,where(a==s1,s3,0))",
        {kInfinity, -kInfinity, above ? 1.0F : 0, below ? 1.0F : 0});
}

void lower_mod(Lowering& node) {
  const bool as_in_c = node.node.attribute("fmod", std::int64_t{0}) != 0;
  const auto type = node.inputs[0].type;
  node.outputs = {on_aicpu(node.steps, as_in_c ? Operation::kRemainder : Operation::kModulo, type,
                           node.inputs[0], node.inputs[1])};
}

void lower_bit_shift(Lowering& node) {
  const auto direction = node.node.attribute("direction", std::string());
  if (direction != "LEFT" && direction != "RIGHT") {
    return node.steps.refuse("a shift that is neither LEFT nor RIGHT");
  }
  node.outputs = {on_aicpu(node.steps,
                           direction == "LEFT" ? Operation::kShiftLeft : Operation::kShiftRight,
                           node.inputs[0].type, node.inputs[0], node.inputs[1])};
}

void lower_mean(Lowering& node) {
  Value sum = node.inputs[0];
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    sum = broadcast(node.steps, "a+b", sum, node.inputs[i]);
  }
  const float share = 1 / static_cast<float>(node.inputs.size());
  node.outputs = {elementwise(node.steps, "a*s", {sum}, {share})};
}

// When a network runs, nothing is dropped. In training the standard leaves the random numbers open.
void lower_dropout(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto number_at = [&](std::size_t input, float usual) {
    if (!node.has(input)) return usual;
    const auto known = steps.download(cast(steps, node.inputs[input], ElementType::kFloat));
    return steps.failed() ? usual : known.values<float>().at(0);
  };
  const bool training = number_at(2, 0) != 0;
  if (training && number_at(1, 0.5F) != 0) return steps.refuse("random numbers of training");
  node.outputs = {x};
  if (node.node.gives(1)) {
    node.outputs.push_back(
        steps.constant(ElementType::kBool, x.sides, std::vector<std::int8_t>(x.elements(), 1)));
  }
}

}  // namespace

const std::vector<LoweringRow> kFunctionLowerings{
    {"HardSigmoid", lower_hard_sigmoid},
    {"HardSwish", lower_hard_swish},
    {"Selu", lower_selu},
    {"Celu", lower_celu},
    {"ThresholdedRelu", lower_thresholded_relu},
    {"Shrink", lower_shrink},
    {"PRelu", lower_prelu, 2},
    {"Mish", lower_mish},
    {"IsNaN", lower_is_nan},
    {"IsInf", lower_is_inf},
    {"Mod", lower_mod, 2},
    {"BitShift", lower_bit_shift, 2},
    {"Mean", lower_mean, kAllInputs},
    {"Dropout", lower_dropout},
    {"Sin", on_aicpus<Operation::kSine>},
    {"Cos", on_aicpus<Operation::kCosine>},
    {"Tan", on_aicpus<Operation::kTangent>},
    {"Asin", on_aicpus<Operation::kArcSine>},
    {"Acos", on_aicpus<Operation::kArcCosine>},
    {"Atan", on_aicpus<Operation::kArcTangent>},
    {"Sinh", on_aicpus<Operation::kHyperbolicSine>},
    {"Cosh", on_aicpus<Operation::kHyperbolicCosine>},
    {"Asinh", on_aicpus<Operation::kArcHyperbolicSine>},
    {"Acosh", on_aicpus<Operation::kArcHyperbolicCosine>},
    {"Atanh", on_aicpus<Operation::kArcHyperbolicTangent>},
};

}  // namespace npu::network
