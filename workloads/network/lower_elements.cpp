// SPDX-License-Identifier: Apache-2.0
// Operators on each element.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/operators/axes.hpp"
#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/on_aicpu.hpp"

namespace npu::network {
namespace {

using Operation = abi::TensorOperation;

constexpr char kAdd[] = "a+b", kSub[] = "a-b", kMul[] = "a*b", kDiv[] = "a/b", kMax[] = "max(a,b)",
               kMin[] = "min(a,b)", kSum[] = "a+b";
constexpr char kRelu[] = "relu(a)", kSigmoid[] = "sigmoid(a)", kTanh[] = "tanh(a)",
               kErf[] = "erf(a)", kExp[] = "exp(a)", kLog[] = "ln(a)", kSqrt[] = "sqrt(a)",
               kNeg[] = "0-a", kAbs[] = "abs(a)", kReciprocal[] = "reciprocal(a)",
               kFloor[] = "floor(a)", kCeil[] = "ceil(a)", kRound[] = "rint(a)",
               kSoftplus[] = "ln(exp(a)+1)", kSoftsign[] = "a/(abs(a)+1)",
               kSign[] = "where(a>0,1,where(a<0,0-1,0))";
constexpr char kEqual[] = "where(a==b,1,0)", kGreater[] = "where(a>b,1,0)",
               kGreaterOrEqual[] = "where(a>=b,1,0)", kLess[] = "where(a<b,1,0)",
               kLessOrEqual[] = "where(a<=b,1,0)", kAnd[] = "where(a!=0,where(b!=0,1,0),0)",
               kOr[] = "where(a!=0,1,where(b!=0,1,0))", kXor[] = "where(a!=b,1,0)";

bool is_byte(const Value& x) {
  return row_of(x.type).bytes == 1;
}

// Bytes are computed with as int32, and come back into their range by counting around.
Value wide(Steps& steps, const Value& x) {
  return is_byte(x) ? as_int32(steps, x) : x;
}

// The same of all inputs, two at a time.
template <const char* kExpression, abi::TensorOperation kOperation>
void each_pair(Lowering& node) {
  auto& steps = node.steps;
  const auto type = node.inputs[0].type;
  Value result = wide(steps, node.inputs[0]);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    result = is_for_aicpu(result)
                 ? on_aicpu(steps, kOperation, type, result, node.inputs[i])
                 : broadcast(steps, kExpression, result, wide(steps, node.inputs[i]));
  }
  if (type == ElementType::kUint8) {
    result = elementwise(steps, "where(a>s,a-s1,where(a<0,a+s1,a))", {result}, {255, 256});
  }
  node.outputs = {is_byte(node.inputs[0]) ? from_int32(steps, result, type) : result};
}

template <const char* kExpression, abi::TensorOperation kOnAicpu = Operation::kCast>
void each(Lowering& node) {
  const auto& x = node.inputs[0];
  const bool has_other = kOnAicpu != Operation::kCast;
  node.outputs = {has_other && is_for_aicpu(x) ? on_aicpu(node.steps, kOnAicpu, x.type, x, x)
                                               : elementwise(node.steps, kExpression, {x})};
}

// 0 - x, or the larger one of both.
template <const char* kExpression, bool kIsSize>
void turn(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  if (!is_for_aicpu(x)) return each<kExpression>(node);
  const auto zero = steps.zeros(x.type, {});
  const auto turned = on_aicpu(steps, Operation::kSubtract, x.type, zero, x);
  node.outputs = {kIsSize ? on_aicpu(steps, Operation::kMaximum, x.type, x, turned) : turned};
}

// `kSwapped`: of b and a on the AICPUs, which have half of the comparisons.
template <const char* kExpression, abi::TensorOperation kOperation, bool kSwapped = false>
void compare(Lowering& node) {
  auto& steps = node.steps;
  const auto& a = node.inputs[0];
  const auto& b = node.inputs[1];
  if (is_for_aicpu(a)) {
    node.outputs = {
        on_aicpu(steps, kOperation, ElementType::kBool, kSwapped ? b : a, kSwapped ? a : b)};
    return;
  }
  const auto truth =
      broadcast_into(steps, ElementType::kInt8, kExpression, wide(steps, a), wide(steps, b));
  node.outputs = {steps.view_as(truth, ElementType::kBool)};
}

// Of truth.
template <const char* kExpression>
void combine(Lowering& node) {
  auto& steps = node.steps;
  const auto byte = [&](std::size_t i) {
    return steps.view_as(node.inputs[i], ElementType::kInt8);
  };
  node.outputs = {
      steps.view_as(broadcast(steps, kExpression, byte(0), byte(1)), ElementType::kBool)};
}

void lower_identity(Lowering& node) {
  node.outputs = {node.inputs[0]};
}

// A real power of integers is computed as a real; the result has the type of the first one.
void lower_pow(Lowering& node) {
  auto& steps = node.steps;
  const auto base = node.inputs[0].type, power = node.inputs[1].type;
  const auto type = is_integer(base) && !is_integer(power) ? power : base;
  const auto a = cast(steps, node.inputs[0], type), b = cast(steps, node.inputs[1], type);
  const bool on_cores = row_of(type).card && !is_integer(type);
  node.outputs = {cast(steps,
                       on_cores ? broadcast(steps, "pow(a,b)", a, b)
                                : on_aicpu(steps, Operation::kPower, type, a, b),
                       base)};
}

// Integers are divided by the AICPUs: the cores cannot.
void lower_div(Lowering& node) {
  const auto& a = node.inputs[0];
  const auto& b = node.inputs[1];
  node.outputs = {is_for_aicpu(a) || is_integer(a.type)
                      ? on_aicpu(node.steps, Operation::kDivide, a.type, a, b)
                      : broadcast(node.steps, kDiv, a, b)};
}

void lower_not(Lowering& node) {
  const auto x = node.steps.view_as(node.inputs[0], ElementType::kInt8);
  node.outputs = {
      node.steps.view_as(elementwise(node.steps, "where(a==0,1,0)", {x}), ElementType::kBool)};
}

void lower_leaky_relu(Lowering& node) {
  const float slope = node.node.attribute("alpha", 0.01F);
  node.outputs = {elementwise(node.steps, "where(a<0,a*s,a)", {node.inputs[0]}, {slope})};
}

void lower_elu(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 1.0F);
  node.outputs = {
      elementwise(node.steps, "where(a<0,s*(exp(a)-s1),a)", {node.inputs[0]}, {alpha, 1})};
}

void lower_clip(Lowering& node) {
  constexpr float kMost = std::numeric_limits<float>::max();
  float low = node.node.attribute("min", -kMost), high = node.node.attribute("max", kMost);
  const auto bound = [&node](std::size_t input, float& to) {
    if (!node.has(input)) return;
    const auto narrow =
        node.steps.download(cast(node.steps, node.inputs[input], ElementType::kFloat));
    if (!node.steps.failed()) to = narrow.values<float>().at(0);
  };
  bound(1, low);
  bound(2, high);
  const auto x = wide(node.steps, node.inputs[0]);
  const auto result = elementwise(node.steps, "min(max(a,s),s1)", {x}, {low, high});
  const auto type = node.inputs[0].type;
  node.outputs = {is_byte(node.inputs[0]) ? from_int32(node.steps, result, type) : result};
}

// Condition, then, else. What is chosen is only moved.
void lower_where(Lowering& node) {
  node.outputs = {choose(node.steps, node.inputs[0], node.inputs[1], node.inputs[2])};
}

}  // namespace

const std::vector<LoweringRow> kElementLowerings{
    {"Add", each_pair<kAdd, Operation::kAdd>, 2, kAdd},
    {"Sub", each_pair<kSub, Operation::kSubtract>, 2, kSub},
    {"Mul", each_pair<kMul, Operation::kMultiply>, 2, kMul},
    {"Div", lower_div, 2, kDiv},
    {"Max", each_pair<kMax, Operation::kMaximum>, kAllInputs},
    {"Min", each_pair<kMin, Operation::kMinimum>, kAllInputs},
    {"Sum", each_pair<kSum, Operation::kAdd>, kAllInputs},
    {"Pow", lower_pow, 2},
    {"Relu", each<kRelu>, 1, kRelu},
    {"Sigmoid", each<kSigmoid>, 1, kSigmoid},
    {"Tanh", each<kTanh, Operation::kHyperbolicTangent>, 1, kTanh},
    {"Erf", each<kErf>, 1, kErf},
    {"Exp", each<kExp, Operation::kExponential>, 1, kExp},
    {"Log", each<kLog, Operation::kLogarithm>, 1, kLog},
    {"Sqrt", each<kSqrt, Operation::kSquareRoot>, 1, kSqrt},
    {"Neg", turn<kNeg, false>, 1, kNeg},
    {"Abs", turn<kAbs, true>, 1, kAbs},
    {"Reciprocal", each<kReciprocal>, 1, kReciprocal},
    {"Floor", each<kFloor>, 1, kFloor},
    {"Ceil", each<kCeil>, 1, kCeil},
    {"Round", each<kRound>, 1, kRound},
    {"Softplus", each<kSoftplus>, 1, kSoftplus},
    {"Softsign", each<kSoftsign>, 1, kSoftsign},
    {"Sign", each<kSign>},
    {"Equal", compare<kEqual, Operation::kEqual>, 2},
    {"Greater", compare<kGreater, Operation::kGreater>, 2},
    {"GreaterOrEqual", compare<kGreaterOrEqual, Operation::kGreaterOrEqual>, 2},
    {"Less", compare<kLess, Operation::kGreater, true>, 2},
    {"LessOrEqual", compare<kLessOrEqual, Operation::kGreaterOrEqual, true>, 2},
    {"And", combine<kAnd>, 2},
    {"Or", combine<kOr>, 2},
    {"Xor", combine<kXor>, 2},
    {"Not", lower_not},
    {"Identity", lower_identity},
    {"LeakyRelu", lower_leaky_relu},
    {"Elu", lower_elu},
    {"Clip", lower_clip},
    {"Where", lower_where, 3},
};

}  // namespace npu::network
