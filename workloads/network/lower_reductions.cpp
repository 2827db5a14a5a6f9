// SPDX-License-Identifier: Apache-2.0
// Operators that bring axes together, and norms.
#include <fmt/format.h>

#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"

namespace npu::network {
namespace {

// The axes that a reduction names; none: all, unless that means none.
std::vector<std::size_t> axes_of(Lowering& node, const Value& x) {
  const auto given = node.integers(1, "axes");
  std::vector<bool> named(x.axes());
  for (const auto each : given) {
    if (const auto axis = node.axis(each, x.axes()); axis < named.size()) named[axis] = true;
  }
  const bool all =
      given.empty() && node.node.attribute("noop_with_empty_axes", std::int64_t{0}) == 0;
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    if (all || named[i]) axes.push_back(i);
  }
  return axes;
}

bool keeps(const Lowering& node) {
  return node.node.attribute("keepdims", std::int64_t{1}) != 0;
}

template <const char* kHow, const char* kBefore, const char* kBehind>
void reduce(Lowering& node) {
  Value x = node.inputs[0];
  const bool bytes = row_of(x.type).bytes == 1;
  if (bytes) x = as_int32(node.steps, x);
  const auto axes = axes_of(node, x);
  if (*kBefore != 0) x = elementwise(node.steps, kBefore, {x});
  if (!axes.empty()) x = reduce(node.steps, kHow, x, axes, keeps(node));
  if (*kBehind != 0) x = elementwise(node.steps, kBehind, {x});
  if (bytes) x = from_int32(node.steps, x, node.inputs[0].type);
  node.outputs = {x};
}

constexpr char kNothingText[] = "", kSumText[] = "sum", kMeanText[] = "mean", kMaxText[] = "max",
               kMinText[] = "min", kProdText[] = "prod", kSquareText[] = "a*a",
               kAbsText[] = "abs(a)", kRootText[] = "sqrt(a)", kLogText[] = "ln(a)",
               kExpText[] = "exp(a)";

// Before opset 13 the axes from that one on are one.
void lower_softmax(Lowering& node) {
  const auto& x = node.inputs[0];
  const bool flat = node.opset < 13;
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{flat ? 1 : -1}), x.axes());
  if (node.steps.failed()) return;
  if (!flat) {
    node.outputs = {softmax(node.steps, x, axis)};
    return;
  }
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i < axis; ++i) rows *= x.sides[i];
  const auto matrix = node.steps.view(x, {rows, rows == 0 ? 0 : x.elements() / rows});
  node.outputs = {node.steps.view(softmax(node.steps, matrix, 1), x.sides)};
}

void lower_log_softmax(Lowering& node) {
  lower_softmax(node);
  if (!node.outputs.empty()) node.outputs = {elementwise(node.steps, "ln(a)", {node.outputs[0]})};
}

void lower_argmax(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (node.steps.failed()) return;
  if (node.node.attribute("select_last_index", std::int64_t{0}) != 0) {
    return node.steps.refuse("the last one of equal ones");
  }
  std::vector<std::uint64_t> order;
  Sides sides;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    if (i != axis) order.push_back(i);
    if (i != axis || keeps(node)) sides.push_back(i == axis ? 1 : x.sides[i]);
  }
  order.push_back(axis);
  const auto places = node.steps.view(argmax(node.steps, transpose(node.steps, x, order)), sides);
  node.outputs = {widen(node.steps, places)};
}

// Each channel of x as a column of 1 x C x 1 x ...
Value beside(Steps& steps, const Value& table, const Value& x) {
  Sides sides(x.axes(), 1);
  sides[1] = table.elements();
  return steps.view(table, sides);
}

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel. In training mean and
// variance are those of x, and the running ones move towards them.
void lower_batch_norm(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  if (x.axes() < 2) return steps.refuse("no channels");
  const float epsilon = node.node.attribute("epsilon", 1e-5F);
  const float momentum = node.node.attribute("momentum", 0.9F);
  const bool training = node.node.attribute("training_mode", std::int64_t{0}) != 0;
  Value mean = node.inputs[3], variance = node.inputs[4];
  if (training) {
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < x.axes(); ++i) {
      if (i != 1) axes.push_back(i);
    }
    mean = reduce(steps, "mean", x, axes, false);
    const auto apart = broadcast(steps, "a-b", x, beside(steps, mean, x));
    variance = reduce(steps, "mean", elementwise(steps, "a*a", {apart}), axes, false);
  }
  const auto rate = elementwise(steps, "a/sqrt(b+s)", {node.inputs[1], variance}, {epsilon});
  const auto apart = broadcast(steps, "a-b", x, beside(steps, mean, x));
  const auto scaled = broadcast(steps, "a*b", apart, beside(steps, rate, x));
  node.outputs = {broadcast(steps, "a+b", scaled, beside(steps, node.inputs[2], x))};
  if (!training) return;
  const std::vector<float> shares{momentum, 1 - momentum};
  node.outputs.push_back(elementwise(steps, "a*s+b*s1", {node.inputs[3], mean}, shares));
  node.outputs.push_back(elementwise(steps, "a*s+b*s1", {node.inputs[4], variance}, shares));
}

}  // namespace

const std::vector<LoweringRow> kReductionLowerings{
    {"ReduceSum", reduce<kSumText, kNothingText, kNothingText>},
    {"ReduceMean", reduce<kMeanText, kNothingText, kNothingText>},
    {"ReduceMax", reduce<kMaxText, kNothingText, kNothingText>},
    {"ReduceMin", reduce<kMinText, kNothingText, kNothingText>},
    {"ReduceProd", reduce<kProdText, kNothingText, kNothingText>},
    {"ReduceSumSquare", reduce<kSumText, kSquareText, kNothingText>},
    {"ReduceL1", reduce<kSumText, kAbsText, kNothingText>},
    {"ReduceL2", reduce<kSumText, kSquareText, kRootText>},
    {"ReduceLogSum", reduce<kSumText, kNothingText, kLogText>},
    {"ReduceLogSumExp", reduce<kSumText, kExpText, kLogText>},
    {"Softmax", lower_softmax},
    {"LogSoftmax", lower_log_softmax},
    {"ArgMax", lower_argmax},
    {"BatchNormalization", lower_batch_norm},
};

}  // namespace npu::network
