// SPDX-License-Identifier: Apache-2.0
// Norms: elements less their mean, divided by their deviation.
#include <algorithm>
#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

// Along axes, which stay as sides of 1.
struct Moments {
  Value apart;  // elements less the mean
  Value mean, variance;
};

Moments moments_of(Steps& steps, const Value& x, const std::vector<std::size_t>& axes) {
  Moments found;
  found.mean = reduce(steps, "mean", x, axes, true);
  found.apart = broadcast(steps, "a-b", x, found.mean);
  found.variance = reduce(steps, "mean", elementwise(steps, "a*a", {found.apart}), axes, true);
  return found;
}

std::vector<std::size_t> axes_from(std::size_t first, std::size_t end) {
  std::vector<std::size_t> axes(end > first ? end - first : 0);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Each channel of x as a column of 1 x C x 1 x ...
Value beside(Steps& steps, const Value& table, const Value& x) {
  Sides sides(x.axes(), 1);
  sides[1] = table.elements();
  return steps.view(table, sides);
}

Value scaled(Steps& steps, const Value& apart, const Value& rate, const Value& bias) {
  return broadcast(steps, "a+b", broadcast(steps, "a*b", apart, rate), bias);
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
    auto axes = axes_from(1, x.axes());
    axes[0] = 0;
    const auto moments = moments_of(steps, x, axes);
    mean = steps.view(moments.mean, {moments.mean.elements()});
    variance = steps.view(moments.variance, {moments.variance.elements()});
  }
  const auto rate = elementwise(steps, "a/sqrt(b+s)", {node.inputs[1], variance}, {epsilon});
  const auto apart = broadcast(steps, "a-b", x, beside(steps, mean, x));
  node.outputs = {scaled(steps, apart, beside(steps, rate, x), beside(steps, node.inputs[2], x))};
  if (!training) return;
  const std::vector<float> shares{momentum, 1 - momentum};
  node.outputs.push_back(elementwise(steps, "a*s+b*s1", {node.inputs[3], mean}, shares));
  node.outputs.push_back(elementwise(steps, "a*s+b*s1", {node.inputs[4], variance}, shares));
}

// The axes from one on are a row. Where nothing but the rows is asked for, one operator does it.
void lower_layer_norm(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{-1}), x.axes());
  if (steps.failed()) return;
  const float epsilon = node.node.attribute("epsilon", 1e-5F);
  const std::uint64_t columns = product_of(x.sides, axis, x.axes());
  const auto& scale = node.inputs[1];
  const bool whole = scale.elements() == columns && scale.type == x.type &&
                     (!node.has(2) || node.inputs[2].elements() == columns);
  if (whole && !node.node.gives(1) && !node.node.gives(2)) {
    node.outputs = {
        layer_norm(steps, x, axis, scale, node.has(2) ? &node.inputs[2] : nullptr, epsilon)};
    return;
  }
  const auto moments = moments_of(steps, x, axes_from(axis, x.axes()));
  const auto rate = elementwise(steps, "s1/sqrt(a+s)", {moments.variance}, {epsilon, 1});
  auto y = broadcast(steps, "a*b", broadcast(steps, "a*b", moments.apart, rate), scale);
  if (node.has(2)) y = broadcast(steps, "a+b", y, node.inputs[2]);
  node.outputs = {y, moments.mean, rate};
}

// By channel of each image.
void lower_instance_norm(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  if (x.axes() < 3) return steps.refuse("no images");
  const float epsilon = node.node.attribute("epsilon", 1e-5F);
  const auto moments = moments_of(steps, x, axes_from(2, x.axes()));
  const auto rate = elementwise(steps, "s1/sqrt(a+s)", {moments.variance}, {epsilon, 1});
  const auto even = broadcast(steps, "a*b", moments.apart, rate);
  node.outputs = {
      scaled(steps, even, beside(steps, node.inputs[1], x), beside(steps, node.inputs[2], x))};
}

void lower_mean_variance(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto named = node.node.attribute("axes", std::vector<std::int64_t>{0, 2, 3});
  std::vector<std::size_t> axes;
  axes.reserve(named.size());
  for (const auto each : named) axes.push_back(node.axis(each, x.axes()));
  if (steps.failed()) return;
  const auto moments = moments_of(steps, x, axes);
  constexpr float kAgainstZero = 1e-9F;  // as the standard's own expansion has it
  const auto rate = elementwise(steps, "s1/(sqrt(a)+s)", {moments.variance}, {kAgainstZero, 1});
  node.outputs = {broadcast(steps, "a*b", moments.apart, rate)};
}

// Divided by a power of the squares of `size` channels around: (bias + alpha / size * sum)^beta.
void lower_local_response(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto size = node.node.attribute("size", std::int64_t{0});
  if (x.axes() < 2 || size < 1) return steps.refuse("no channels, or none around");
  const float share = node.node.attribute("alpha", 1e-4F) / static_cast<float>(size);
  const float beta = node.node.attribute("beta", 0.75F), bias = node.node.attribute("bias", 1.0F);
  const auto channels = static_cast<std::int64_t>(x.sides[1]);
  const auto squares = elementwise(steps, "a*a", {x});
  Value sum = squares;
  const std::int64_t before = std::min((size - 1) / 2, channels);
  const std::int64_t behind = std::min(size - 1 - (size - 1) / 2, channels);
  for (std::int64_t away = -before; away <= behind && !steps.failed(); ++away) {
    if (away == 0) continue;
    std::vector<std::int64_t> rows;
    for (std::int64_t c = away; c < channels + away; ++c) {
      rows.push_back(c < channels ? std::max<std::int64_t>(c, -1) : -1);
    }
    sum = elementwise(steps, "a+b", {sum, rows_along(steps, squares, 1, rows)});
  }
  node.outputs = {elementwise(steps, "a*exp(ln(b*s+s1)*s2)", {x, sum}, {share, bias, -beta})};
}

}  // namespace

const std::vector<LoweringRow> kNormLowerings{
    {"BatchNormalization", lower_batch_norm, 5},
    {"LayerNormalization", lower_layer_norm, 2},
    {"InstanceNormalization", lower_instance_norm, 3},
    {"MeanVarianceNormalization", lower_mean_variance},
    {"LRN", lower_local_response},
};

}  // namespace npu::network
