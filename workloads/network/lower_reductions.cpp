// SPDX-License-Identifier: Apache-2.0
// Operators that bring axes together, and what runs along one.
#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/on_aicpu.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

constexpr char kNothingText[] = "", kSumText[] = "sum", kMeanText[] = "mean", kMaxText[] = "max",
               kMinText[] = "min", kProdText[] = "prod", kSquareText[] = "a*a",
               kAbsText[] = "abs(a)", kRootText[] = "sqrt(a)", kLogText[] = "ln(a)",
               kExpText[] = "exp(a)";

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

// A function of `expression`, which is one of the table below.
Value on_aicpu_by(Steps& steps, const std::string& expression, const Value& x) {
  using Work = abi::TensorOperation;
  const auto of = [&](Work operation, const Value& b) {
    return on_aicpu(steps, operation, x.type, x, b);
  };
  if (expression == kSquareText) return of(Work::kMultiply, x);
  if (expression == kRootText) return of(Work::kSquareRoot, x);
  if (expression == kLogText) return of(Work::kLogarithm, x);
  if (expression == kExpText) return of(Work::kExponential, x);
  if (expression != kAbsText) return x;
  const auto zero = steps.zeros(x.type, {});
  return of(Work::kMaximum, on_aicpu(steps, Work::kSubtract, x.type, zero, x));
}

template <const char* kHow, const char* kBefore, const char* kBehind>
void reduce(Lowering& node) {
  Value x = node.inputs[0];
  if (is_for_aicpu(x)) {
    const auto gone = axes_of(node, x);
    x = on_aicpu_by(node.steps, kBefore, x);
    if (node.steps.failed()) return;
    if (!gone.empty()) x = reduce_on_aicpu(node.steps, kHow, x, gone, keeps(node));
    node.outputs = {on_aicpu_by(node.steps, kBehind, x)};
    return;
  }
  const bool bytes = row_of(x.type).bytes == 1;
  if (bytes) x = as_int32(node.steps, x);
  const auto axes = axes_of(node, x);
  if (*kBefore != 0) x = elementwise(node.steps, kBefore, {x});
  if (!axes.empty()) x = reduce(node.steps, kHow, x, axes, keeps(node));
  if (*kBehind != 0) x = elementwise(node.steps, kBehind, {x});
  if (bytes) x = from_int32(node.steps, x, node.inputs[0].type);
  node.outputs = {x};
}

struct Along {
  Value x;
  std::size_t axis;
};

// Before opset 13 the axes from that one on are one.
Along matrix_of(Lowering& node) {
  const auto& x = node.inputs[0];
  const bool flat = node.opset < 13;
  const auto wanted = node.node.attribute("axis", std::int64_t{flat ? 1 : -1});
  // An axis behind the last one is nothing but rows.
  const auto end = static_cast<std::int64_t>(x.axes());
  const auto axis = flat && wanted == end ? x.axes() : node.axis(wanted, x.axes());
  if (!flat || node.steps.failed()) return {x, axis};
  const std::uint64_t rows = product_of(x.sides, 0, axis);
  return {node.steps.view(x, {rows, product_of(x.sides, axis, x.axes())}), 1};
}

template <Value (*kSoftmax)(Steps&, const Value&, std::size_t)>
void lower_softmax(Lowering& node) {
  const auto [x, axis] = matrix_of(node);
  if (node.steps.failed()) return;
  node.outputs = {node.steps.view(kSoftmax(node.steps, x, axis), node.inputs[0].sides)};
}

// The axis as the last one.
std::vector<std::uint64_t> order_with_last(std::size_t axes, std::size_t last) {
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < axes; ++i) {
    if (i != last) order.push_back(i);
  }
  order.push_back(last);
  return order;
}

// Of the largest or the smallest along an axis, in int32, without that axis.
Value place_along(Steps& steps, const Value& x, std::size_t axis, bool smallest) {
  const auto turned = transpose(steps, x, order_with_last(x.axes(), axis));
  return place_of_largest(steps, smallest ? elementwise(steps, "0-a", {turned}) : turned);
}

Value turned_round(Steps& steps, const Value& x, std::size_t axis) {
  const std::uint64_t side = x.sides[axis];
  return rows_of_axis(steps, x, axis, static_cast<std::int64_t>(side) - 1, -1, side);
}

// The largest or the smallest one; of equal ones the first or the last.
template <bool kSmallest>
void lower_arg(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (steps.failed()) return;
  const bool last = node.node.attribute("select_last_index", std::int64_t{0}) != 0;
  auto places = place_along(steps, last ? turned_round(steps, x, axis) : x, axis, kSmallest);
  if (last) {
    places = elementwise(steps, "s-a", {places}, {static_cast<float>(x.sides[axis]) - 1});
  }
  Sides sides;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    if (i != axis || keeps(node)) sides.push_back(i == axis ? 1 : x.sides[i]);
  }
  node.outputs = {widen(steps, steps.view(places, sides))};
}

// 1 where the largest is along an axis, 0 elsewhere.
void lower_hardmax(Lowering& node) {
  auto& steps = node.steps;
  const auto [x, axis] = matrix_of(node);
  if (steps.failed()) return;
  auto kept = x.sides;
  kept[axis] = 1;
  const auto places = steps.view(place_along(steps, x, axis, false), kept);
  Sides along(x.axes(), 1);
  along[axis] = x.sides[axis];
  std::vector<std::int32_t> numbers(x.sides[axis]);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto range = steps.constant(ElementType::kInt32, along, numbers);
  const auto hit = broadcast(steps, "where(a==b,1,0)", places, range);
  node.outputs = {steps.view(cast(steps, hit, x.type), node.inputs[0].sides)};
}

// Sums of what is before an element: of reals by a product with a triangle of ones, of others one
// element after the other.
void lower_cum_sum(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto wanted = node.integers(1);
  if (wanted.size() != 1) return steps.refuse("an axis that is no number");
  const auto axis = node.axis(wanted[0], x.axes());
  if (steps.failed()) return;
  const bool without = node.node.attribute("exclusive", std::int64_t{0}) != 0;
  const bool from_end = node.node.attribute("reverse", std::int64_t{0}) != 0;
  const std::uint64_t side = x.sides[axis];
  if (x.type == ElementType::kFloat && axis + 1 == x.axes() && side != 0) {
    std::vector<float> triangle(side * side);
    for (std::uint64_t from = 0; from < side; ++from) {
      for (std::uint64_t to = 0; to < side; ++to) {
        const bool before = from_end ? from > to : from < to;
        triangle[from * side + to] = before || (from == to && !without) ? 1 : 0;
      }
    }
    const auto sums = product(steps, steps.view(x, {x.elements() / side, side}),
                              steps.constant(ElementType::kFloat, {side, side}, triangle));
    node.outputs = {steps.view(sums, x.sides)};
    return;
  }
  std::vector<Value> parts(side);
  std::optional<Value> sum;
  for (std::uint64_t i = 0; i < side; ++i) {
    const std::uint64_t at = from_end ? side - 1 - i : i;
    const auto part = rows_of_axis(steps, x, axis, static_cast<std::int64_t>(at), 1, 1);
    const auto before = sum ? *sum : steps.zeros(x.type, part.sides);
    sum = on_aicpu(steps, abi::TensorOperation::kAdd, x.type, before, part);
    parts[at] = without ? before : *sum;
  }
  node.outputs = {parts.empty() ? x : concat(steps, parts, axis)};
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
    {"Softmax", lower_softmax<softmax>},
    {"LogSoftmax", lower_softmax<log_softmax>},
    {"ArgMax", lower_arg<false>},
    {"ArgMin", lower_arg<true>},
    {"Hardmax", lower_hardmax},
    {"CumSum", lower_cum_sum, 2},
};

}  // namespace npu::network
