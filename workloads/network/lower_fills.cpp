// SPDX-License-Identifier: Apache-2.0
// Operators that fill: constants, margins, copies of a tensor, triangles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/indices.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

// Of what the host makes.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28;

// `tensor` has one element.
Tensor filled(const Tensor& tensor, const Sides& sides) {
  Tensor made{tensor.type, sides, {}, {}};
  const std::uint64_t count = elements_of(sides);
  made.bytes.reserve(count * tensor.bytes.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    made.bytes.insert(made.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return made;
}

// Of a shape that a tensor names.
Sides sides_of(Lowering& node, const std::vector<std::int64_t>& wanted) {
  Sides sides;
  std::uint64_t elements = 1;
  for (const auto side : wanted) {
    const bool fits = side >= 0 && static_cast<std::uint64_t>(side) <= kMostElements &&
                      elements * static_cast<std::uint64_t>(side) <= kMostElements;
    if (!fits) {
      node.steps.refuse(fmt::format("a side of {}", side));
      return {};
    }
    sides.push_back(static_cast<std::uint64_t>(side));
    elements *= sides.back();
  }
  return sides;
}

void lower_constant_of_shape(Lowering& node) {
  const auto sides = sides_of(node, node.integers(0));
  const auto value = node.node.attribute("value", Tensor::of<float>(ElementType::kFloat, {1}, {0}));
  if (value.elements() != 1 || value.bytes.empty()) {
    return node.steps.refuse("a value that is not one number");
  }
  if (!node.steps.failed()) node.outputs = {node.steps.constant(filled(value, sides))};
}

// Numbers from a start by a step, as reals of the host or integers.
void lower_range(Lowering& node) {
  auto& steps = node.steps;
  const auto type = node.inputs[0].type;
  const bool real = type == ElementType::kFloat || type == ElementType::kDouble;
  if (real) {
    std::array<double, 3> of{};
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto wide = steps.download(cast(steps, node.inputs[i], ElementType::kDouble));
      if (steps.failed()) return;
      of[i] = wide.values<double>().at(0);
    }
    const double count = std::ceil((of[1] - of[0]) / of[2]);
    if (!(count < static_cast<double>(kMostElements))) return steps.refuse("a range without end");
    std::vector<double> all;
    for (double i = 0; i < count; ++i) all.push_back(of[0] + i * of[2]);
    const auto wide = steps.constant(ElementType::kDouble, {all.size()}, all);
    node.outputs = {cast(steps, wide, type)};
    return;
  }
  std::array<std::int64_t, 3> of{};
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto wide = steps.download(cast(steps, node.inputs[i], ElementType::kInt64));
    if (steps.failed()) return;
    of[i] = wide.values<std::int64_t>().at(0);
  }
  if (of[2] == 0) return steps.refuse("a step of 0");
  std::vector<std::int64_t> all;
  const bool up = of[2] > 0;
  for (std::int64_t at = of[0]; up ? at < of[1] : at > of[1];) {
    all.push_back(at);
    if (all.size() > kMostElements || __builtin_add_overflow(at, of[2], &at)) break;
  }
  node.outputs = {cast(steps, steps.constant(ElementType::kInt64, {all.size()}, all), type)};
}

// 1 where a column is at least `diagonal` behind its row, 0 elsewhere.
Value triangle(Steps& steps, std::uint64_t rows, std::uint64_t columns, std::int64_t diagonal,
               bool only_it = false) {
  std::vector<std::int8_t> mask(rows * columns);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      const auto behind = static_cast<std::int64_t>(column) - static_cast<std::int64_t>(row);
      mask[row * columns + column] = only_it ? behind == diagonal : behind >= diagonal;
    }
  }
  return steps.constant(ElementType::kInt8, {rows, columns}, mask);
}

void lower_trilu(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  if (x.axes() < 2) return steps.refuse("no matrix");
  const auto named = node.integers(1);
  const std::int64_t diagonal = named.empty() ? 0 : named[0];
  const bool upper = node.node.attribute("upper", std::int64_t{1}) != 0;
  if (steps.failed()) return;
  // Below and on a diagonal is what is not above the next one.
  const std::int64_t from =
      upper || diagonal == std::numeric_limits<std::int64_t>::max() ? diagonal : diagonal + 1;
  const auto above = triangle(steps, x.sides[x.axes() - 2], x.sides.back(), from);
  const auto zero = steps.zeros(x.type, {1});
  node.outputs = {upper ? choose(steps, above, x, zero) : choose(steps, above, zero, x)};
}

void lower_eye_like(Lowering& node) {
  const auto& x = node.inputs[0];
  if (x.axes() != 2) return node.steps.refuse("no matrix");
  const auto* const row = find_type(
      static_cast<int>(node.node.attribute("dtype", std::int64_t{static_cast<int>(x.type)})));
  if (row == nullptr) return node.steps.refuse("a type that ONNX does not name");
  const auto ones =
      triangle(node.steps, x.sides[0], x.sides[1], node.node.attribute("k", std::int64_t{0}), true);
  node.outputs = {cast(node.steps, ones, row->type)};
}

void lower_tile(Lowering& node) {
  auto x = node.inputs[0];
  const auto times = node.integers(1);
  if (times.size() != x.axes()) return node.steps.refuse("repeats of other axes");
  for (std::size_t axis = 0; axis < times.size() && !node.steps.failed(); ++axis) {
    if (times[axis] == 1) continue;
    auto wanted = std::vector<std::int64_t>(x.sides.begin(), x.sides.end());
    if (times[axis] < 0 || times[axis] > static_cast<std::int64_t>(kMostElements)) {
      return node.steps.refuse(fmt::format("{} repeats", times[axis]));
    }
    wanted[axis] *= times[axis];
    const auto sides = sides_of(node, wanted);
    if (node.steps.failed()) return;
    std::vector<std::int64_t> rows(sides[axis]);
    const auto side = static_cast<std::int64_t>(x.sides[axis]);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i) % side;
    x = rows_along(node.steps, x, axis, rows);
  }
  node.outputs = {x};
}

// Rows of an axis with margins, of which those outside come from inside.
std::optional<Places> bordered(const std::string& mode, std::int64_t side, std::int64_t before,
                               std::int64_t after) {
  Places rows;
  for (std::int64_t i = -before; i < side + after; ++i) {
    if (i >= 0 && i < side) {
      rows.push_back(i);
    } else if (mode == "constant") {
      rows.push_back(-1);
    } else if (side == 0) {
      return {};
    } else if (mode == "edge") {
      rows.push_back(i < 0 ? 0 : side - 1);
    } else if (mode == "wrap") {
      rows.push_back((i % side + side) % side);
    } else if (mode == "reflect") {
      const std::int64_t period = std::max<std::int64_t>(1, 2 * (side - 1));
      const std::int64_t at = (i % period + period) % period;
      rows.push_back(at < side ? at : period - at);
    } else {
      return {};
    }
  }
  return rows;
}

void lower_pad(Lowering& node) {
  auto& steps = node.steps;
  auto x = node.inputs[0];
  const auto mode = node.node.attribute("mode", std::string("constant"));
  const auto margins = node.integers(1, "pads");
  auto axes = node.integers(3);
  for (std::size_t i = 0; i < x.axes() && !node.has(3); ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
  }
  if (margins.size() != 2 * axes.size()) return steps.refuse("margins of other axes");
  const auto type = x.type;
  const auto value = node.has(2)
                         ? node.inputs[2]
                         : number(steps, ElementType::kFloat, node.node.attribute("value", 0.0F));
  const auto content = steps.download(cast(steps, value, type));
  for (std::size_t i = 0; i < axes.size() && !steps.failed(); ++i) {
    const auto axis = node.axis(axes[i], x.axes());
    const std::int64_t before = margins[i], after = margins[i + axes.size()];
    const auto side = static_cast<std::int64_t>(x.sides[axis]);
    constexpr auto kMost = static_cast<std::int64_t>(kMostElements);
    const auto fits = [](std::int64_t margin) { return margin >= -kMost && margin <= kMost; };
    if (!fits(before) || !fits(after)) return steps.refuse("margins beyond 2^28");
    const auto rows = bordered(mode, side, before, after);
    if (!rows) return steps.refuse("margins by " + mode);
    if (before == 0 && after == 0) continue;
    const auto wide = rows_along(steps, x, axis, *rows);
    if (mode != "constant") {
      x = wide;
      continue;
    }
    Sides along(x.axes(), 1);
    along[axis] = rows->size();
    std::vector<std::int8_t> inside;
    for (const auto row : *rows) inside.push_back(row >= 0);
    const auto fill = steps.constant(filled(content, {1}));
    x = choose(steps, steps.constant(ElementType::kInt8, along, inside), wide, fill);
  }
  node.outputs = {x};
}

// Blocks of channels become squares of an image, or the other way.
template <bool kToSpace>
void lower_depth(Lowering& node) {
  const auto& x = node.inputs[0];
  const auto block = node.node.attribute("blocksize", std::int64_t{0});
  if (x.axes() != 4 || block < 1) return node.steps.refuse("no images, or no blocks");
  const auto b = static_cast<std::uint64_t>(block);
  const auto &n = x.sides[0], &c = x.sides[1], &h = x.sides[2], &w = x.sides[3];
  if constexpr (kToSpace) {
    const bool by_column = node.node.attribute("mode", std::string("DCR")) == "CRD";
    const std::uint64_t channels = c / b / b;
    const auto apart = node.steps.view(
        x, by_column ? Sides{n, channels, b, b, h, w} : Sides{n, b, b, channels, h, w});
    const auto order = by_column ? std::vector<std::uint64_t>{0, 1, 4, 2, 5, 3}
                                 : std::vector<std::uint64_t>{0, 3, 4, 1, 5, 2};
    node.outputs = {
        node.steps.view(transpose(node.steps, apart, order), {n, channels, h * b, w * b})};
  } else {
    const auto apart = node.steps.view(x, {n, c, h / b, b, w / b, b});
    node.outputs = {node.steps.view(transpose(node.steps, apart, {0, 3, 5, 1, 2, 4}),
                                    {n, c * b * b, h / b, w / b})};
  }
}

}  // namespace

const std::vector<LoweringRow> kFillLowerings{
    {"ConstantOfShape", lower_constant_of_shape},
    {"Range", lower_range, 3},
    {"Trilu", lower_trilu},
    {"EyeLike", lower_eye_like},
    {"Tile", lower_tile, 2},
    {"Pad", lower_pad},
    {"DepthToSpace", lower_depth<true>},
    {"SpaceToDepth", lower_depth<false>},
};

}  // namespace npu::network
