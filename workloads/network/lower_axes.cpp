// SPDX-License-Identifier: Apache-2.0
// Operators that change sides, and choose and join parts.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/operators/axes.hpp"
#include "workloads/network/indices.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

using Integers = std::vector<std::int64_t>;

void lower_transpose(Lowering& node) {
  const auto& x = node.inputs[0];
  std::vector<std::uint64_t> order(x.axes());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (const auto given = node.node.attribute("perm", Integers{}); !given.empty()) {
    order.assign(given.begin(), given.end());
  }
  if (!operators::is_order(order, x.axes())) return node.steps.refuse("perm is no order of axes");
  node.outputs = {transpose(node.steps, x, order)};
}

void lower_concat(Lowering& node) {
  const auto axes = node.inputs[0].axes();
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), axes);
  for (const auto& part : node.inputs) {
    if (part.axes() != axes || part.type != node.inputs[0].type) {
      return node.steps.refuse("parts of other types or axes");
    }
  }
  if (node.steps.failed()) return;
  node.outputs = {concat(node.steps, node.inputs, axis)};
}

void lower_reshape(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto wanted = node.integers(1, "shape");
  const bool zero_stays = node.node.attribute("allowzero", std::int64_t{0}) != 0;
  Sides sides;
  std::size_t open = wanted.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool copied = wanted[i] == 0 && !zero_stays;
    if (copied && i >= x.axes()) return node.steps.refuse("a side of 0 that the tensor lacks");
    if (wanted[i] < 0) open = i;
    sides.push_back(copied          ? x.sides[i]
                    : wanted[i] < 0 ? 1
                                    : static_cast<std::uint64_t>(wanted[i]));
  }
  const auto others = elements_of(sides);
  if (open < sides.size() && others != 0) sides[open] = x.elements() / others;
  node.outputs = {node.steps.view(x, sides)};
}

void lower_flatten(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto wanted = node.node.attribute("axis", std::int64_t{1});
  const auto axis =
      wanted == static_cast<std::int64_t>(x.axes()) ? x.axes() : node.axis(wanted, x.axes());
  node.outputs = {
      node.steps.view(x, {product_of(x.sides, 0, axis), product_of(x.sides, axis, x.axes())})};
}

void lower_squeeze(Lowering& node) {
  const auto& x = node.inputs[0];
  std::vector<bool> gone(x.axes());
  const auto axes = node.integers(1, "axes");
  for (const auto axis : axes) gone[node.axis(axis, x.axes())] = true;
  Sides sides;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    const bool leaves = axes.empty() ? x.sides[i] == 1 : gone[i];
    if (!leaves) sides.push_back(x.sides[i]);
  }
  node.outputs = {node.steps.view(x, sides)};
}

void lower_unsqueeze(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto axes = node.integers(1, "axes");
  std::vector<bool> fresh(x.axes() + axes.size());
  for (const auto axis : axes) fresh[node.axis(axis, fresh.size())] = true;
  Sides sides;
  std::size_t next = 0;
  for (const bool one : fresh) {
    if (!one && next == x.axes()) return node.steps.refuse("an axis given twice");
    sides.push_back(one ? 1 : x.sides[next++]);
  }
  node.outputs = {node.steps.view(x, sides)};
}

void lower_expand(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto wanted = node.integers(1);
  const auto sides = operators::broadcast_sides(x.sides, Sides(wanted.begin(), wanted.end()));
  if (!sides) return node.steps.refuse(sides.error().context);
  node.outputs = {repeat(node.steps, x, *sides)};
}

void lower_shape(Lowering& node) {
  const auto& sides = node.inputs[0].sides;
  const auto axes = static_cast<std::int64_t>(sides.size());
  const auto bound = [&](const char* name, std::int64_t usual) {
    const auto given = node.node.attribute(name, usual);
    return std::clamp<std::int64_t>(given < 0 ? given + axes : given, 0, axes);
  };
  const auto begin = bound("start", 0), end = std::max(begin, bound("end", axes));
  const Integers part(sides.begin() + begin, sides.begin() + end);
  node.outputs = {node.steps.constant(ElementType::kInt64, {part.size()}, part)};
}

void lower_size(Lowering& node) {
  node.outputs = {node.steps.constant<std::int64_t>(
      ElementType::kInt64, {}, {static_cast<std::int64_t>(node.inputs[0].elements())})};
}

void lower_constant(Lowering& node) {
  const auto& attributes = node.node.attributes;
  const auto found = attributes.find("value");
  const auto* const tensor =
      found == attributes.end() ? nullptr : std::get_if<Tensor>(&found->second);
  if (tensor != nullptr) {
    node.outputs = {node.steps.constant(*tensor)};
  } else if (node.node.has("value_int")) {
    node.outputs = {node.steps.constant<std::int64_t>(
        ElementType::kInt64, {}, {node.node.attribute("value_int", std::int64_t{0})})};
  } else if (node.node.has("value_ints")) {
    const auto all = node.node.attribute("value_ints", Integers{});
    node.outputs = {node.steps.constant(ElementType::kInt64, {all.size()}, all)};
  } else if (node.node.has("value_float")) {
    node.outputs = {node.steps.constant<float>(ElementType::kFloat, {},
                                               {node.node.attribute("value_float", 0.0F)})};
  } else {
    node.steps.refuse("a constant of that kind");
  }
}

// --- rows of tables ------------------------------------------------------------------------

// The axis comes to the front, and its rows are taken.
void lower_gather(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (node.steps.failed()) return;
  const auto indices = indices_of(node, node.inputs[1], x.sides[axis]);
  if (node.steps.failed()) return;
  const auto taken = rows_along(node.steps, x, axis, indices);
  Sides sides(x.sides.begin(), x.sides.begin() + static_cast<std::ptrdiff_t>(axis));
  sides.insert(sides.end(), node.inputs[1].sides.begin(), node.inputs[1].sides.end());
  sides.insert(sides.end(), x.sides.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.sides.end());
  node.outputs = {node.steps.view(taken, sides)};
}

void lower_gather_elements(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto& wanted = node.inputs[1];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (node.steps.failed()) return;
  const auto rows = places_along(node, wanted, x.sides, axis);
  if (node.steps.failed()) return;
  const auto table = node.steps.view(x, {x.elements(), 1});
  node.outputs = {
      node.steps.view(gather_rows(node.steps, table, int32s(node.steps, rows)), wanted.sides)};
}

void lower_gather_nd(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto& wanted = node.inputs[1];
  const auto batch = static_cast<std::size_t>(node.node.attribute("batch_dims", std::int64_t{0}));
  const std::size_t depth = wanted.sides.empty() ? 0 : wanted.sides.back();
  if (depth == 0 || batch + depth > x.axes() || batch >= wanted.axes()) {
    return node.steps.refuse("indices of more axes than the tensor has");
  }
  const std::size_t first = batch + depth;
  const std::uint64_t columns = product_of(x.sides, first, x.axes());
  const auto rows = rows_named(node, wanted, x.sides, batch);
  if (node.steps.failed()) return;
  const auto table = node.steps.view(x, {product_of(x.sides, 0, first), columns});
  const auto taken = gather_rows(node.steps, table, int32s(node.steps, rows));
  Sides sides(wanted.sides.begin(), wanted.sides.end() - 1);
  sides.insert(sides.end(), x.sides.begin() + static_cast<std::ptrdiff_t>(first), x.sides.end());
  node.outputs = {node.steps.view(taken, sides)};
}

void lower_slice(Lowering& node) {
  const auto starts = node.integers(1, "starts"), ends = node.integers(2, "ends");
  auto axes = node.integers(3, "axes");
  auto steps = node.integers(4);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (axes.size() != starts.size() || ends.size() != starts.size() ||
      steps.size() != starts.size()) {
    return node.steps.refuse("starts, ends, axes and steps of different numbers");
  }
  Value x = node.inputs[0];
  for (std::size_t i = 0; i < starts.size() && !node.steps.failed(); ++i) {
    const auto axis = node.axis(axes[i], x.axes());
    if (node.steps.failed()) return;
    const auto side = static_cast<std::int64_t>(x.sides[axis]);
    // Longer steps than the axis take one element, too.
    const std::int64_t step = std::clamp<std::int64_t>(steps[i], -side - 1, side + 1);
    if (step == 0) return node.steps.refuse("a step of 0");
    const auto bound = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      return std::clamp(at < 0 ? std::max(at, -side - 1) + side : at, low, high);
    };
    const auto begin = step > 0 ? bound(starts[i], 0, side) : bound(starts[i], 0, side - 1);
    const auto end = step > 0 ? bound(ends[i], 0, side) : bound(ends[i], -1, side - 1);
    const std::int64_t length = step > 0 ? end - begin : begin - end;
    const std::int64_t pace = std::abs(step);
    const std::int64_t count = length <= 0 ? 0 : (length + pace - 1) / pace;
    if (begin == 0 && step == 1 && count == side) continue;
    x = rows_of_axis(node.steps, x, axis, begin, step, static_cast<std::uint64_t>(count));
  }
  node.outputs = {x};
}

void lower_split(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.axes());
  if (node.steps.failed()) return;
  auto parts = node.integers(1, "split");
  const auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(node.node.outputs.size()));
  const auto side = static_cast<std::int64_t>(x.sides[axis]);
  if (parts.empty()) parts.assign(static_cast<std::size_t>(count), (side + count - 1) / count);
  std::int64_t begin = 0;
  for (const auto part : parts) {
    const auto taken = std::clamp<std::int64_t>(part, 0, side - begin);
    node.outputs.push_back(
        rows_of_axis(node.steps, x, axis, begin, 1, static_cast<std::uint64_t>(taken)));
    begin += taken;
  }
}

}  // namespace

const std::vector<LoweringRow> kAxisLowerings{
    {"Transpose", lower_transpose},
    {"Concat", lower_concat, kAllInputs},
    {"Reshape", lower_reshape},
    {"Flatten", lower_flatten},
    {"Squeeze", lower_squeeze},
    {"Unsqueeze", lower_unsqueeze},
    {"Expand", lower_expand, 2},
    {"Shape", lower_shape},
    {"Size", lower_size},
    {"Constant", lower_constant, 0},
    {"Gather", lower_gather, 2},
    {"GatherElements", lower_gather_elements, 2},
    {"GatherND", lower_gather_nd, 2},
    {"Slice", lower_slice},
    {"Split", lower_split},
};

}  // namespace npu::network
