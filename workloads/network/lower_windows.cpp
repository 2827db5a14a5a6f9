// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools: the channels go behind the other axes, each window becomes a row of a
// matrix by a gather of rows, and a product or a reduction works on that.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"
#include "workloads/network/windows.hpp"

namespace npu::network {
namespace {

using Integers = std::vector<std::int64_t>;

// Batch, channels, and the sides between which windows move.
struct Image {
  std::uint64_t batch = 0, channels = 0;
  Integers sides;

  std::int64_t elements() const {
    return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
  }
};

bool is_image(Lowering& node, const Value& x) {
  if (x.axes() >= 3) return true;
  node.steps.refuse(fmt::format("{} has no sides beside batch and channels", text_of(x.sides)));
  return false;
}

Image image_of(const Value& x) {
  return {x.sides[0], x.sides[1], Integers(x.sides.begin() + 2, x.sides.end())};
}

// Batch, sides, channels.
Value channels_last(Steps& steps, const Value& x) {
  std::vector<std::uint64_t> order{0};
  for (std::size_t i = 2; i < x.axes(); ++i) order.push_back(i);
  order.push_back(1);
  return transpose(steps, x, order);
}

// From a matrix of a row for each element of the result: batch, channels, sides.
Value channels_first(Steps& steps, const Value& rows, std::uint64_t batch, std::uint64_t channels,
                     const Integers& sides) {
  Sides last{batch};
  last.insert(last.end(), sides.begin(), sides.end());
  last.push_back(channels);
  std::vector<std::uint64_t> order{0, last.size() - 1};
  for (std::size_t i = 1; i + 1 < last.size(); ++i) order.push_back(i);
  return transpose(steps, steps.view(rows, last), order);
}

// A row of `channels` for each element of the result and place of the window: the matrix whose rows
// are windows, elements x (places * channels).
Value unfold(Steps& steps, const Value& x, const Image& image, const Integers& sources) {
  const auto each = static_cast<std::uint64_t>(image.elements());
  std::vector<std::int32_t> rows;
  rows.reserve(image.batch * sources.size());
  for (std::uint64_t b = 0; b < image.batch; ++b) {
    for (const auto source : sources) {
      rows.push_back(source < 0
                         ? -1
                         : static_cast<std::int32_t>(b * each) + static_cast<std::int32_t>(source));
    }
  }
  const auto table = steps.view(channels_last(steps, x), {image.batch * each, image.channels});
  return gather_rows(steps, table, steps.constant(ElementType::kInt32, {rows.size()}, rows));
}

// Weights of a group as a matrix of (places * channels) x filters. `order` brings the axes of the
// weights into places, channels, filters.
Value filters_of(Steps& steps, const Value& weights, const std::vector<std::uint64_t>& order,
                 std::uint64_t rows, std::uint64_t filters) {
  return steps.view(transpose(steps, weights, order), {rows, filters});
}

// The g-th part of an axis, all of them `count` long.
Value part_of(Steps& steps, const Value& x, std::size_t axis, std::uint64_t g,
              std::uint64_t count) {
  if (count == x.sides[axis]) return x;
  return rows_of_axis(steps, x, axis, static_cast<std::int64_t>(g * count), 1, count);
}

// Weights: filters, channels of a group, kernel; of a transposed one: channels, filters of a group,
// kernel.
struct Convolution {
  bool transposed = false;
  std::uint64_t groups = 1;
  Window window;
  Integers sources;
};

bool convolution_of(Lowering& node, const Value& x, const Value& weights, Convolution& made) {
  if (!is_image(node, x) || !is_image(node, weights)) return false;
  const auto kernel = image_of(weights).sides;
  const auto sides = image_of(x).sides;
  made.groups = static_cast<std::uint64_t>(node.node.attribute("group", std::int64_t{1}));
  const bool fits = made.transposed ? transposed_window_of(node.node, kernel, sides, made.window)
                                    : window_of(node.node, kernel, sides, made.window);
  const std::uint64_t channels =
      made.transposed ? weights.sides[0] : weights.sides[1] * made.groups;
  if (!fits || channels != x.sides[1] || made.groups == 0 || weights.sides[0] % made.groups != 0) {
    node.steps.refuse(
        fmt::format("{} by a kernel of {}", text_of(x.sides), text_of(weights.sides)));
    return false;
  }
  made.sources =
      made.transposed ? transposed_sources_of(made.window, sides) : sources_of(made.window, sides);
  return true;
}

Value convolve(Lowering& node, const Value& x, const Value& weights, const Convolution& how) {
  auto& steps = node.steps;
  const std::uint64_t groups = how.groups;
  const std::uint64_t channels = x.sides[1] / groups;
  const std::uint64_t filters = how.transposed ? weights.sides[1] : weights.sides[0] / groups;
  const std::uint64_t rows = channels * static_cast<std::uint64_t>(how.window.places());
  // The kernel's axes, channels, filters.
  std::vector<std::uint64_t> order;
  for (std::size_t i = 2; i < weights.axes(); ++i) order.push_back(i);
  order.insert(order.end(), how.transposed ? std::initializer_list<std::uint64_t>{0, 1}
                                           : std::initializer_list<std::uint64_t>{1, 0});
  std::vector<Value> parts;
  for (std::uint64_t g = 0; g < groups && !steps.failed(); ++g) {
    const auto part = part_of(steps, x, 1, g, channels);
    const auto each = how.transposed ? channels : filters;
    const auto own = groups == 1 ? weights : part_of(steps, weights, 0, g, each);
    const auto image = image_of(part);
    const auto windows =
        steps.view(unfold(steps, part, image, how.sources),
                   {image.batch * static_cast<std::uint64_t>(how.window.result_elements()), rows});
    const auto sums = product(steps, windows, filters_of(steps, own, order, rows, filters));
    parts.push_back(channels_first(steps, sums, image.batch, filters, how.window.result));
  }
  if (steps.failed()) return {};
  return parts.size() == 1 ? parts.front() : concat(steps, parts, 1);
}

template <bool kTransposed>
void lower_convolution(Lowering& node) {
  Convolution how;
  how.transposed = kTransposed;
  if (!convolution_of(node, node.inputs[0], node.inputs[1], how)) return;
  auto result = convolve(node, node.inputs[0], node.inputs[1], how);
  if (node.has(2) && !node.steps.failed()) {
    Sides sides(result.axes(), 1);
    sides[1] = node.inputs[2].elements();
    result = broadcast(node.steps, "a+b", result, node.steps.view(node.inputs[2], sides));
  }
  node.outputs = {result};
}

// Bytes less a zero point, or one for each filter. Padding is the zero point, which is 0 then.
Value without_zero(Lowering& node, std::size_t input, std::size_t zero) {
  auto& steps = node.steps;
  Value wide = as_int32(steps, node.inputs[input]);
  if (node.has(zero)) {
    auto point = node.inputs[zero];
    if (point.elements() > 1) {
      Sides sides(wide.axes(), 1);
      sides[0] = point.elements();
      point = steps.view(point, sides);
    }
    wide = broadcast(steps, "a-b", wide, as_int32(steps, point));
  }
  return elementwise_into(steps, ElementType::kFloat, "a", {wide});
}

// x, its scale and zero point, weights and theirs, those of the result, a bias.
void lower_quantised_convolution(Lowering& node) {
  auto& steps = node.steps;
  Convolution how;
  if (!convolution_of(node, node.inputs[0], node.inputs[3], how)) return;
  auto sums = convolve(node, without_zero(node, 0, 2), without_zero(node, 3, 5), how);
  if (steps.failed()) return;
  const auto by_channel = [&](const Value& table) {
    Sides sides(sums.axes(), 1);
    sides[1] = table.elements();
    return steps.view(table, sides);
  };
  if (node.has(8)) {
    const auto bias = elementwise_into(steps, ElementType::kFloat, "a", {node.inputs[8]});
    sums = broadcast(steps, "a+b", sums, by_channel(bias));
  }
  const auto scale = broadcast(
      steps, "a/b", broadcast(steps, "a*b", node.inputs[4], node.inputs[1]), node.inputs[6]);
  node.outputs = {
      quantised(steps, broadcast(steps, "a*b", sums, by_channel(scale)), node.inputs[7])};
}

void lower_integer_convolution(Lowering& node) {
  auto& steps = node.steps;
  Convolution how;
  if (!convolution_of(node, node.inputs[0], node.inputs[1], how)) return;
  // Sums of floats, which are exact up to 2^24.
  constexpr std::uint64_t kExactTerms = (std::uint64_t{1} << 24) / (255 * 255);
  const auto& weights = node.inputs[1].sides;
  if (product_of(weights, 1, weights.size()) > kExactTerms) {
    return steps.refuse(fmt::format("sums of more than {} products of bytes", kExactTerms));
  }
  const auto sums = convolve(node, without_zero(node, 0, 2), without_zero(node, 1, 3), how);
  if (steps.failed()) return;
  node.outputs = {elementwise_into(steps, ElementType::kInt32, "a", {sums})};
}

bool pool_of(Lowering& node, const Value& x, Window& window) {
  if (!is_image(node, x)) return false;
  const auto sides = image_of(x).sides;
  if (window_of(node.node, node.node.attribute("kernel_shape", Integers{}), sides, window)) {
    return true;
  }
  node.steps.refuse("a pool whose attributes do not fit " + text_of(x.sides));
  return false;
}

// A place in the padding is that of another one of the window: of equal ones the largest stays.
void repeat_neighbours(Integers& sources, std::int64_t places) {
  for (auto window = sources.begin(); window != sources.end(); window += places) {
    const auto inside = std::find_if(window, window + places, [](auto each) { return each >= 0; });
    if (inside == window + places) continue;
    std::replace(window, window + places, std::int64_t{-1}, *inside);
  }
}

// Where in the image the largest of each window is: row * channels + channel of a table of sources.
Value places_of_largest(Lowering& node, const Value& windows, const Image& image,
                        const Window& window, const Integers& sources) {
  auto& steps = node.steps;
  const auto places = static_cast<std::uint64_t>(window.places());
  const auto elements = static_cast<std::uint64_t>(window.result_elements());
  // Rows of channels become rows of places.
  const auto turned = transpose(
      steps, steps.view(windows, {image.batch * elements, places, image.channels}), {0, 2, 1});
  const auto largest = place_of_largest(steps, turned);
  // Of each row its first entry of the table of sources.
  std::vector<std::int32_t> first(image.batch * elements * image.channels);
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::int32_t>(i / image.channels % elements * places);
  }
  const auto entries = elementwise(steps, "a+b",
                                   {steps.view(largest, {first.size()}),
                                    steps.constant(ElementType::kInt32, {first.size()}, first)});
  std::vector<std::int32_t> table(sources.begin(), sources.end());
  const bool by_columns = node.node.attribute("storage_order", std::int64_t{0}) != 0;
  for (auto& each : table) {
    if (!by_columns || each < 0 || image.sides.size() != 2) continue;
    const auto width = static_cast<std::int32_t>(image.sides[1]);
    const auto height = static_cast<std::int32_t>(image.sides[0]);
    each = each % width * height + each / width;
  }
  const auto inside =
      gather_rows(steps, steps.constant(ElementType::kInt32, {table.size(), 1}, table), entries);
  // And the begin of its batch's channel.
  std::vector<std::int32_t> begin(first.size());
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const auto batch = i / image.channels / elements;
    begin[i] = static_cast<std::int32_t>((batch * image.channels + i % image.channels) *
                                         static_cast<std::uint64_t>(image.elements()));
  }
  const auto all = elementwise(steps, "a+b",
                               {steps.view(inside, {begin.size()}),
                                steps.constant(ElementType::kInt32, {begin.size()}, begin)});
  return widen(steps, channels_first(steps, all, image.batch, image.channels, window.result));
}

void lower_max_pool(Lowering& node) {
  auto& steps = node.steps;
  const bool bytes = row_of(node.inputs[0].type).bytes == 1;
  const Value x = bytes ? as_int32(steps, node.inputs[0]) : node.inputs[0];
  Window window;
  if (!pool_of(node, x, window)) return;
  const auto image = image_of(x);
  auto sources = sources_of(window, image.sides);
  repeat_neighbours(sources, window.places());
  const auto elements = image.batch * static_cast<std::uint64_t>(window.result_elements());
  const auto windows = unfold(steps, x, image, sources);
  const auto places = static_cast<std::uint64_t>(window.places());
  const auto largest =
      reduce(steps, "max", steps.view(windows, {elements, places, image.channels}), {1}, false);
  auto result = channels_first(steps, largest, image.batch, image.channels, window.result);
  if (bytes) result = from_int32(steps, result, node.inputs[0].type);
  node.outputs = {result};
  if (node.node.gives(1)) {
    node.outputs.push_back(places_of_largest(node, windows, image, window, sources));
  }
}

// Padding counts as 0, or does not count.
void lower_average_pool(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  Window window;
  if (!pool_of(node, x, window)) return;
  const auto image = image_of(x);
  const auto sources = sources_of(window, image.sides);
  const auto elements = static_cast<std::uint64_t>(window.result_elements());
  const auto places = static_cast<std::uint64_t>(window.places());
  const bool counts = node.node.attribute("count_include_pad", std::int64_t{0}) != 0;
  std::vector<float> shares;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const auto begin = sources.begin() + static_cast<std::ptrdiff_t>(i * places);
    const auto padded = std::count(begin, begin + static_cast<std::ptrdiff_t>(places), -1);
    const auto counted = static_cast<std::int64_t>(places) - (counts ? 0 : padded);
    shares.push_back(counted == 0 ? 0 : 1.0F / static_cast<float>(counted));
  }
  const auto sums = reduce(
      steps, "sum",
      steps.view(unfold(steps, x, image, sources), {image.batch, elements, places, image.channels}),
      {2}, false);
  const auto share =
      cast(steps, steps.constant(ElementType::kFloat, {1, elements, 1}, shares), x.type);
  node.outputs = {channels_first(steps, broadcast(steps, "a*b", sums, share), image.batch,
                                 image.channels, window.result)};
}

template <const char* kHow>
void lower_global_pool(Lowering& node) {
  const auto& x = node.inputs[0];
  if (!is_image(node, x)) return;
  std::vector<std::size_t> axes(x.axes() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  node.outputs = {reduce(node.steps, kHow, x, axes, true)};
}

// Each element goes to the place that its pool told.
void lower_max_unpool(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  if (!is_image(node, x)) return;
  const auto kernel = node.node.attribute("kernel_shape", Integers{});
  const auto image = image_of(x);
  Window window;
  if (kernel.size() != image.sides.size() ||
      !transposed_window_of(node.node, kernel, image.sides, window)) {
    return steps.refuse("a pool whose attributes do not fit " + text_of(x.sides));
  }
  Sides sides{x.sides[0], x.sides[1]};
  sides.insert(sides.end(), window.result.begin(), window.result.end());
  Sides wanted = sides;
  if (node.has(2)) {
    const auto given = node.integers(2);
    wanted.assign(given.begin(), given.end());
  }
  const auto places = integers_of(steps.download(node.inputs[1]));
  const bool fits = places.size() == x.elements() && wanted.size() == sides.size();
  if (!fits) return steps.refuse("places, or a shape, of another tensor");
  std::vector<std::int32_t> rows;
  for (const auto place : places) {
    // Places count in the pool's own result; a larger one has the same coordinates.
    auto left = static_cast<std::uint64_t>(place);
    std::uint64_t at = 0, pace = 1;
    for (std::size_t i = sides.size(); i-- > 0;) {
      at += left % sides[i] * pace;
      left /= sides[i];
      pace *= wanted[i];
    }
    if (place < 0 || left != 0) return steps.refuse(fmt::format("place {} of a pool", place));
    rows.push_back(static_cast<std::int32_t>(at));
  }
  const auto scattered = scatter_rows(steps, elements_of(wanted),
                                      steps.constant(ElementType::kInt32, {rows.size()}, rows),
                                      steps.view(x, {x.elements(), 1}));
  node.outputs = {steps.view(scattered, wanted)};
}

constexpr char kPoolMean[] = "mean", kPoolMax[] = "max";

}  // namespace

const std::vector<LoweringRow> kWindowLowerings{
    {"Conv", lower_convolution<false>, 2},
    {"ConvTranspose", lower_convolution<true>, 2},
    {"ConvInteger", lower_integer_convolution, 2},
    {"QLinearConv", lower_quantised_convolution, 8},
    {"MaxPool", lower_max_pool},
    {"AveragePool", lower_average_pool},
    {"GlobalAveragePool", lower_global_pool<kPoolMean>},
    {"GlobalMaxPool", lower_global_pool<kPoolMax>},
    {"MaxUnpool", lower_max_unpool, 2},
};

}  // namespace npu::network
