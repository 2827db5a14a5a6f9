// SPDX-License-Identifier: Apache-2.0
// Operators that write to places, pick and sort.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/indices.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

// The order of equal places is left open by the standard; sums of them are not made.
bool adds_up(Lowering& node) {
  const auto how = node.node.attribute("reduction", std::string("none"));
  if (how != "none") node.steps.refuse("reduction " + how);
  return how != "none";
}

void lower_scatter_elements(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto& updates = node.inputs[2];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (adds_up(node) || steps.failed()) return;
  if (updates.sides != node.inputs[1].sides || updates.type != x.type) {
    return steps.refuse("updates that do not fit their indices");
  }
  const auto places = places_along(node, node.inputs[1], x.sides, axis);
  if (steps.failed()) return;
  const auto written = with_rows(steps, steps.view(x, {x.elements(), 1}), int32s(steps, places),
                                 steps.view(updates, {updates.elements(), 1}));
  node.outputs = {steps.view(written, x.sides)};
}

void lower_scatter_nd(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto& updates = node.inputs[2];
  const auto rows = rows_named(node, node.inputs[1], x.sides, 0);
  if (adds_up(node) || steps.failed()) return;
  const std::size_t depth = node.inputs[1].sides.back();
  const std::uint64_t columns = product_of(x.sides, depth, x.axes());
  if (updates.elements() != rows.size() * columns || updates.type != x.type) {
    return steps.refuse("updates that do not fit their indices");
  }
  const auto table = steps.view(x, {product_of(x.sides, 0, depth), columns});
  const auto written =
      with_rows(steps, table, int32s(steps, rows), steps.view(updates, {rows.size(), columns}));
  node.outputs = {steps.view(written, x.sides)};
}

// Where a condition is true.
void lower_compress(Lowering& node) {
  auto& steps = node.steps;
  auto x = node.inputs[0];
  std::size_t axis = 0;
  if (node.node.has("axis")) {
    axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  } else {
    x = steps.view(x, {x.elements()});
  }
  const auto condition = steps.download(node.inputs[1]);
  if (steps.failed()) return;
  Places rows;
  for (std::size_t i = 0; i < condition.bytes.size(); ++i) {
    if (condition.bytes[i] != std::byte{0}) rows.push_back(static_cast<std::int64_t>(i));
  }
  if (condition.bytes.size() != condition.elements() || condition.elements() > x.sides[axis]) {
    return steps.refuse("a condition longer than its axis, or of another type");
  }
  node.outputs = {rows_along(steps, x, axis, rows)};
}

// The first elements of each sequence, turned round.
void lower_reverse_sequence(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto lengths = integers_of(steps.download(node.inputs[1]));
  const auto batch = node.axis(node.node.attribute("batch_axis", std::int64_t{1}), x.axes());
  const auto time = node.axis(node.node.attribute("time_axis", std::int64_t{0}), x.axes());
  if (steps.failed()) return;
  if (batch + time != 1 || lengths.size() != x.sides[batch]) {
    return steps.refuse("axes other than the first two, or lengths of other sequences");
  }
  Places rows;
  for (std::uint64_t i = 0; i < x.sides[0] * x.sides[1]; ++i) {
    const std::uint64_t first = i / x.sides[1], second = i % x.sides[1];
    const auto at = static_cast<std::int64_t>(time == 0 ? first : second);
    const std::uint64_t sequence = time == 0 ? second : first;
    const auto length = lengths[sequence];
    if (length < 0 || length > static_cast<std::int64_t>(x.sides[time])) {
      return steps.refuse(fmt::format("a sequence of {}", length));
    }
    const auto from = static_cast<std::uint64_t>(at < length ? length - 1 - at : at);
    rows.push_back(static_cast<std::int64_t>(time == 0 ? from * x.sides[1] + sequence
                                                       : sequence * x.sides[1] + from));
  }
  const auto table = steps.view(x, {x.sides[0] * x.sides[1], product_of(x.sides, 2, x.axes())});
  node.outputs = {steps.view(gather_rows(steps, table, int32s(steps, rows)), x.sides)};
}

// The second of two values where the index along a new axis is the number of its place.
void lower_one_hot(Lowering& node) {
  auto& steps = node.steps;
  const auto wide = cast(steps, node.inputs[1], ElementType::kInt64);
  const auto depths = integers_of(steps.download(wide));
  const auto indices = cast(steps, node.inputs[0], ElementType::kInt32);
  const auto& values = node.inputs[2];
  constexpr std::int64_t kMost = 1 << 24;
  if (steps.failed() || depths.size() != 1 || depths[0] < 0 || depths[0] > kMost) {
    return steps.refuse("a depth that is not one number from 0 to 2^24");
  }
  if (values.sides != Sides{2}) return steps.refuse("values that are not two");
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{-1}), indices.axes() + 1);
  if (steps.failed()) return;
  const auto depth = static_cast<std::uint64_t>(depths[0]);
  auto sides = indices.sides;
  sides.insert(sides.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  const auto from_front =
      elementwise(steps, "where(a<0,a+s,a)", {indices}, {static_cast<float>(depth)});
  Sides along(sides.size(), 1);
  along[axis] = depth;
  Places numbers(depth);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto range = steps.view(int32s(steps, numbers), along);
  const auto hit = broadcast_into(steps, ElementType::kInt8, "where(a==b,1,0)",
                                  steps.view(from_front, sides), range);
  node.outputs = {choose(steps, hit, rows_of_axis(steps, values, 0, 1, 1, 1),
                         rows_of_axis(steps, values, 0, 0, 1, 1))};
}

void lower_top_k(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{-1}), x.axes());
  const auto wanted = node.integers(1);
  if (steps.failed()) return;
  const std::uint64_t side = x.sides[axis];
  const bool fits =
      wanted.size() == 1 && wanted[0] >= 0 && static_cast<std::uint64_t>(wanted[0]) <= side;
  if (!fits) return steps.refuse(fmt::format("other than 0 to {} of an axis", side));
  const bool largest = node.node.attribute("largest", std::int64_t{1}) != 0;
  // The axis comes to the end, and back.
  std::vector<std::uint64_t> there, back(x.axes());
  for (std::size_t i = 0; i < x.axes(); ++i) {
    if (i != axis) there.push_back(i);
  }
  there.push_back(axis);
  for (std::size_t i = 0; i < there.size(); ++i) back[there[i]] = i;
  const auto best =
      extremes(steps, transpose(steps, x, there), static_cast<std::uint64_t>(wanted[0]), largest);
  node.outputs = {transpose(steps, best.values, back),
                  widen(steps, transpose(steps, best.indices, back))};
}

}  // namespace

const std::vector<LoweringRow> kScatterLowerings{
    {"ScatterElements", lower_scatter_elements, 3},
    {"Scatter", lower_scatter_elements, 3},
    {"ScatterND", lower_scatter_nd, 3},
    {"Compress", lower_compress, 2},
    {"ReverseSequence", lower_reverse_sequence, 2},
    {"OneHot", lower_one_hot, 3},
    {"TopK", lower_top_k, 2},
};

}  // namespace npu::network
