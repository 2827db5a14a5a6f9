// SPDX-License-Identifier: Apache-2.0
// Images of another size: along each axis rows that are taken, or a product with weights.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/resampling.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

constexpr double kMostSide = 1 << 24;

std::vector<float> reals_at(Lowering& node, std::size_t input) {
  if (!node.has(input) || node.inputs[input].elements() == 0) return {};
  const auto found = node.steps.download(cast(node.steps, node.inputs[input], ElementType::kFloat));
  return node.steps.failed() ? std::vector<float>{} : found.values<float>();
}

// Which input of a node has what: 0: there is none.
struct ResizeInputs {
  std::size_t area = 0, scales = 0, sizes = 0;
};

// For each axis of the tensor.
std::vector<ResampledAxis> axes_of(Lowering& node, const ResizeInputs& inputs) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  auto named = node.node.attribute("axes", std::vector<std::int64_t>{});
  if (named.empty()) {
    named.resize(x.axes());
    std::iota(named.begin(), named.end(), 0);
  }
  std::vector<ResampledAxis> axes;
  for (const auto side : x.sides) axes.push_back({side, side, 1, 0, 1});
  const auto scales = inputs.scales == 0 ? node.node.attribute("scales", std::vector<float>{})
                                         : reals_at(node, inputs.scales);
  const auto sizes = inputs.sizes == 0 ? std::vector<std::int64_t>{} : node.integers(inputs.sizes);
  const auto area = inputs.area == 0 ? std::vector<float>{} : reals_at(node, inputs.area);
  const std::size_t given = sizes.empty() ? scales.size() : sizes.size();
  const auto policy = node.node.attribute("keep_aspect_ratio_policy", std::string("stretch"));
  if (given != named.size() || policy != "stretch") {
    steps.refuse("sizes of other axes, or such that keep their ratio");
    return axes;
  }
  for (std::size_t i = 0; i < named.size() && !steps.failed(); ++i) {
    auto& axis = axes[node.axis(named[i], x.axes())];
    const auto from = static_cast<double>(axis.from);
    axis.scale =
        sizes.empty() ? static_cast<double>(scales[i]) : static_cast<double>(sizes[i]) / from;
    const double to = sizes.empty() ? std::floor(from * axis.scale) : static_cast<double>(sizes[i]);
    if (!(to >= 0 && to <= kMostSide) || !(axis.scale > 0)) {
      steps.refuse(fmt::format("a side of {} by {}", axis.from, axis.scale));
      return axes;
    }
    axis.to = static_cast<std::uint64_t>(to);
    if (area.size() == 2 * named.size()) {
      axis.begin = static_cast<double>(area[i]);
      axis.end = static_cast<double>(area[i + named.size()]);
    }
  }
  return axes;
}

// A product with weights along an axis, which is the last one meanwhile.
Value weighted(Steps& steps, const Value& x, std::size_t axis, const ResampledAxis& change,
               const std::vector<float>& weights) {
  std::vector<std::uint64_t> order(x.axes());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order.back());
  auto turned = transpose(steps, x, order);
  const auto rows = steps.view(turned, {x.elements() / change.from, change.from});
  const auto table = steps.constant(ElementType::kFloat, {change.to, change.from}, weights);
  auto sides = turned.sides;
  sides.back() = change.to;
  return transpose(steps, steps.view(product(steps, rows, table, false, true), sides), order);
}

void resize(Lowering& node, const Resampling& how, const ResizeInputs& inputs) {
  auto& steps = node.steps;
  if (node.node.attribute("antialias", std::int64_t{0}) != 0) return steps.refuse("antialias");
  const auto axes = axes_of(node, inputs);
  if (steps.failed()) return;
  const bool is_nearest = how.mode == "nearest";
  const bool crops = how.place == "tf_crop_and_resize";
  const auto type = node.inputs[0].type;
  Value x = is_nearest ? node.inputs[0] : cast(steps, node.inputs[0], ElementType::kFloat);
  const auto outside =
      crops ? number(steps, x.type, node.node.attribute("extrapolation_value", 0.0F)) : Value{};
  for (std::size_t i = 0; i < axes.size() && !steps.failed(); ++i) {
    if (axes[i].from == axes[i].to && axes[i].scale == 1 && !crops) continue;
    if (axes[i].from == 0) return steps.refuse("a size from nothing");
    if (is_nearest) {
      const auto rows = nearest_of(how, axes[i]);
      if (!rows) return steps.fail_with(rows.error());
      x = rows_along(steps, x, i, *rows);
      continue;
    }
    const auto made = resample(how, axes[i]);
    if (!made) return steps.fail_with(made.error());
    x = weighted(steps, x, i, axes[i], made->weights);
    if (!crops) continue;
    Sides along(x.axes(), 1);
    along[i] = axes[i].to;
    const std::vector<std::int8_t> inside(made->inside.begin(), made->inside.end());
    x = choose(steps, steps.constant(ElementType::kInt8, along, inside), x, outside);
  }
  node.outputs = {is_nearest ? x : cast(steps, x, type)};
}

void lower_resize(Lowering& node) {
  Resampling how;
  how.mode = node.node.attribute("mode", how.mode);
  how.place = node.node.attribute("coordinate_transformation_mode", how.place);
  how.nearest = node.node.attribute("nearest_mode", how.nearest);
  how.cubic_a = static_cast<double>(node.node.attribute("cubic_coeff_a", -0.75F));
  how.exclude_outside = node.node.attribute("exclude_outside", std::int64_t{0}) != 0;
  if (node.opset < 11) {  // X, scales
    how.place = "asymmetric";
    how.nearest = "floor";
    return resize(node, how, {0, 1, 0});
  }
  const bool sized = node.has(3) && node.inputs[3].elements() != 0;
  resize(node, how, {1, sized ? std::size_t{0} : 2, sized ? std::size_t{3} : 0});
}

void lower_upsample(Lowering& node) {
  Resampling how;
  how.mode = node.node.attribute("mode", how.mode);
  how.place = "asymmetric";
  how.nearest = "floor";
  resize(node, how, {0, node.has(1) ? std::size_t{1} : 0, 0});
}

}  // namespace

const std::vector<LoweringRow> kResizeLowerings{{"Resize", lower_resize},
                                                {"Upsample", lower_upsample}};

}  // namespace npu::network
