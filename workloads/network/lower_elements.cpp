// SPDX-License-Identifier: Apache-2.0
// Operators on each element.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/operators/axes.hpp"
#include "workloads/network/lowering.hpp"

namespace npu::network {
namespace {

bool is_byte(const Value& x) {
  return row_of(x.type).bytes == 1;
}

// Bytes are computed with as int32, and come back into their range by counting around.
Value wide(Steps& steps, const Value& x) {
  return is_byte(x) ? as_int32(steps, x) : x;
}

// The same expression of all inputs, two at a time.
template <const char* kExpression>
void each_pair(Lowering& node) {
  Value result = wide(node.steps, node.inputs[0]);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    result = node.steps.broadcast(kExpression, result, wide(node.steps, node.inputs[i]));
  }
  const auto type = node.inputs[0].type;
  if (type == ElementType::kUint8) {
    result = node.steps.elementwise("where(a>s,a-s1,where(a<0,a+s1,a))", {result}, {255, 256});
  }
  node.outputs = {is_byte(node.inputs[0]) ? from_int32(node.steps, result, type) : result};
}

template <const char* kExpression>
void each(Lowering& node) {
  node.outputs = {node.steps.elementwise(kExpression, {node.inputs[0]})};
}

template <const char* kExpression>
void compare(Lowering& node) {
  const auto truth =
      node.steps.broadcast_into(ElementType::kInt8, kExpression, wide(node.steps, node.inputs[0]),
                                wide(node.steps, node.inputs[1]));
  node.outputs = {node.steps.view_as(truth, ElementType::kBool)};
}

void lower_identity(Lowering& node) {
  node.outputs = {node.inputs[0]};
}

void lower_not(Lowering& node) {
  const auto x = node.steps.view_as(node.inputs[0], ElementType::kInt8);
  node.outputs = {
      node.steps.view_as(node.steps.elementwise("where(a==0,1,0)", {x}), ElementType::kBool)};
}

void lower_leaky_relu(Lowering& node) {
  const float slope = node.node.attribute("alpha", 0.01F);
  node.outputs = {node.steps.elementwise("where(a<0,a*s,a)", {node.inputs[0]}, {slope})};
}

void lower_elu(Lowering& node) {
  const float alpha = node.node.attribute("alpha", 1.0F);
  node.outputs = {
      node.steps.elementwise("where(a<0,s*(exp(a)-s1),a)", {node.inputs[0]}, {alpha, 1})};
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
  const auto result = node.steps.elementwise("min(max(a,s),s1)", {x}, {low, high});
  const auto type = node.inputs[0].type;
  node.outputs = {is_byte(node.inputs[0]) ? from_int32(node.steps, result, type) : result};
}

// Condition, then, else. What is chosen is only moved.
void lower_where(Lowering& node) {
  node.outputs = {node.steps.choose(node.inputs[0], node.inputs[1], node.inputs[2])};
}

constexpr char kAdd[] = "a+b", kSub[] = "a-b", kMul[] = "a*b", kDiv[] = "a/b", kMax[] = "max(a,b)",
               kMin[] = "min(a,b)", kPow[] = "pow(a,b)", kSum[] = "a+b";
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

}  // namespace

const std::vector<LoweringRow> kElementLowerings{
    {"Add", each_pair<kAdd>},
    {"Sub", each_pair<kSub>},
    {"Mul", each_pair<kMul>},
    {"Div", each_pair<kDiv>},
    {"Max", each_pair<kMax>},
    {"Min", each_pair<kMin>},
    {"Sum", each_pair<kSum>},
    {"Pow", each_pair<kPow>},
    {"Relu", each<kRelu>},
    {"Sigmoid", each<kSigmoid>},
    {"Tanh", each<kTanh>},
    {"Erf", each<kErf>},
    {"Exp", each<kExp>},
    {"Log", each<kLog>},
    {"Sqrt", each<kSqrt>},
    {"Neg", each<kNeg>},
    {"Abs", each<kAbs>},
    {"Reciprocal", each<kReciprocal>},
    {"Floor", each<kFloor>},
    {"Ceil", each<kCeil>},
    {"Round", each<kRound>},
    {"Softplus", each<kSoftplus>},
    {"Softsign", each<kSoftsign>},
    {"Sign", each<kSign>},
    {"Equal", compare<kEqual>},
    {"Greater", compare<kGreater>},
    {"GreaterOrEqual", compare<kGreaterOrEqual>},
    {"Less", compare<kLess>},
    {"LessOrEqual", compare<kLessOrEqual>},
    {"And", compare<kAnd>},
    {"Or", compare<kOr>},
    {"Xor", compare<kXor>},
    {"Not", lower_not},
    {"Identity", lower_identity},
    {"LeakyRelu", lower_leaky_relu},
    {"Elu", lower_elu},
    {"Clip", lower_clip},
    {"Where", lower_where},
};

}  // namespace npu::network
