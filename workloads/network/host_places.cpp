// SPDX-License-Identifier: Apache-2.0
// On the host: operators whose results are as many as their inputs' elements say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/network/host_nodes.hpp"
#include "workloads/network/sides.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::network {
namespace {

// A number of a tensor, exactly, with an order.
struct Exact {
  double real = 0;
  std::int64_t whole = 0;     // of integers
  std::uint64_t natural = 0;  // of uint64

  bool operator<(const Exact& other) const {
    if (real != other.real) return real < other.real;
    return whole != other.whole ? whole < other.whole : natural < other.natural;
  }
};

template <class T>
T element_of(const Tensor& x, std::size_t i) {
  T value;
  std::memcpy(&value, x.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

Exact exact_of(const Tensor& x, std::size_t i) {
  switch (x.type) {
    case ElementType::kFloat:
      return {static_cast<double>(element_of<float>(x, i))};
    case ElementType::kDouble:
      return {element_of<double>(x, i)};
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return {workloads::load_element(*row_of(x.type).card, x.bytes.data(), i)};
    case ElementType::kInt8:
      return {0, element_of<std::int8_t>(x, i)};
    case ElementType::kInt16:
      return {0, element_of<std::int16_t>(x, i)};
    case ElementType::kInt32:
      return {0, element_of<std::int32_t>(x, i)};
    case ElementType::kInt64:
      return {0, element_of<std::int64_t>(x, i)};
    case ElementType::kUint16:
      return {0, element_of<std::uint16_t>(x, i)};
    case ElementType::kUint32:
      return {0, element_of<std::uint32_t>(x, i)};
    case ElementType::kUint64:
      return {0, 0, element_of<std::uint64_t>(x, i)};
    default:
      return {0, element_of<std::uint8_t>(x, i)};
  }
}

bool is_zero(const Exact& x) {
  return x.real == 0 && x.whole == 0 && x.natural == 0;
}

Tensor int64s(Sides sides, const std::vector<std::int64_t>& values) {
  return Tensor::of(ElementType::kInt64, std::move(sides), values);
}

// Coordinates of what is not 0, an axis in each row.
void compute_non_zero(HostNode& node) {
  const auto& x = node.inputs[0];
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < x.elements(); ++i) {
    if (!is_zero(exact_of(x, i))) places.push_back(i);
  }
  const std::size_t axes = x.sides.size();
  std::vector<std::int64_t> found(axes * places.size());
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const auto behind = product_of(x.sides, axis + 1, axes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      found[axis * places.size() + i] =
          static_cast<std::int64_t>(places[i] / behind % x.sides[axis]);
    }
  }
  node.visits = x.elements() + found.size();
  node.outputs = {int64s({axes, places.size()}, found)};
}

// Slices of a tensor along an axis, or its elements.
struct Slices {
  const Tensor& x;
  std::size_t outer = 1, count = 0, inner = 1;

  std::size_t place(std::size_t slice, std::size_t i) const {
    return (i / inner * count + slice) * inner + i % inner;
  }
  std::size_t size() const { return outer * inner; }
  bool less(std::size_t a, std::size_t b) const {
    for (std::size_t i = 0; i < size(); ++i) {
      const auto left = exact_of(x, place(a, i)), right = exact_of(x, place(b, i));
      if (left < right) return true;
      if (right < left) return false;
    }
    return false;
  }
};

struct Found {
  std::vector<std::size_t> first;     // slices, each the first of its kind
  std::vector<std::int64_t> inverse;  // by slice: which of them it is
  std::vector<std::int64_t> counts;
};

Found unlike(const Slices& slices, bool sorted, std::uint64_t& visits) {
  std::vector<std::size_t> order(slices.count);
  std::iota(order.begin(), order.end(), 0);
  const auto compare = [&](std::size_t a, std::size_t b) {
    visits += slices.size();
    return slices.less(a, b);
  };
  std::stable_sort(order.begin(), order.end(), compare);
  Found found;
  std::vector<std::size_t> kind(slices.count);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i])) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    kind[order[i]] = found.first.size() - 1;
    ++found.counts.back();
  }
  // In the order in which they come, where that is wanted.
  std::vector<std::size_t> by(found.first.size());
  std::iota(by.begin(), by.end(), 0);
  if (!sorted) {
    std::sort(by.begin(), by.end(),
              [&](std::size_t a, std::size_t b) { return found.first[a] < found.first[b]; });
  }
  Found result;
  std::vector<std::int64_t> place(by.size());
  for (std::size_t i = 0; i < by.size(); ++i) {
    place[by[i]] = static_cast<std::int64_t>(i);
    result.first.push_back(found.first[by[i]]);
    result.counts.push_back(found.counts[by[i]]);
  }
  for (const auto each : kind) result.inverse.push_back(place[each]);
  return result;
}

void compute_unique(HostNode& node) {
  const auto& x = node.inputs[0];
  const bool sorted = node.node.attribute("sorted", std::int64_t{1}) != 0;
  Slices slices{x};
  std::size_t axis = 0;
  Sides sides{0};
  if (node.node.has("axis")) {
    axis = node.axis(node.node.attribute("axis", std::int64_t{0}), x.sides.size());
    if (!node.status) return;
    sides = x.sides;
    slices.outer = product_of(sides, 0, axis);
    slices.inner = product_of(sides, axis + 1, sides.size());
    slices.count = sides[axis];
  } else {
    slices.count = x.elements();
  }
  const auto found = unlike(slices, sorted, node.visits);
  sides[axis] = found.first.size();
  const Bytes size = row_of(x.type).bytes;
  Tensor values{x.type, sides, {}, {}};
  values.bytes.resize(values.elements() * size);
  const Slices to{values, slices.outer, found.first.size(), slices.inner};
  for (std::size_t slice = 0; slice < found.first.size(); ++slice) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::memcpy(values.bytes.data() + to.place(slice, i) * size,
                  x.bytes.data() + slices.place(found.first[slice], i) * size, size);
    }
  }
  const std::vector<std::int64_t> first(found.first.begin(), found.first.end());
  node.visits += values.elements() + slices.count;
  node.outputs = {values, int64s({first.size()}, first), int64s({slices.count}, found.inverse),
                  int64s({first.size()}, found.counts)};
}

struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
  static Box of(const float* at, bool centred) {
    if (centred) {
      return {at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2, at[0] + at[2] / 2};
    }
    return {std::min(at[0], at[2]), std::min(at[1], at[3]), std::max(at[0], at[2]),
            std::max(at[1], at[3])};
  }
};

// What both cover, as a part of what one of them does.
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const float both = height * width;
  return both / (a.area() + b.area() - both);
}

float number_of(const HostNode& node, std::size_t input, float usual) {
  if (!node.has(input) || node.inputs[input].elements() == 0) return usual;
  return element_of<float>(node.inputs[input], 0);
}

// Boxes with the best scores that do not cover each other, by batch and class.
void compute_non_max_suppression(HostNode& node) {
  const auto& boxes = node.inputs[0];
  const auto& scores = node.inputs[1];
  const bool fits = boxes.type == ElementType::kFloat && scores.type == ElementType::kFloat &&
                    boxes.sides.size() == 3 && scores.sides.size() == 3 && boxes.sides[2] == 4 &&
                    boxes.sides[0] == scores.sides[0] && boxes.sides[1] == scores.sides[2];
  if (!fits) return node.refuse("boxes that do not fit their scores");
  const auto most = node.has(2) ? integers_of(node.inputs[2]) : std::vector<std::int64_t>{0};
  const float limit = number_of(node, 3, 0), least = number_of(node, 4, -INFINITY);
  const bool centred = node.node.attribute("center_point_box", std::int64_t{0}) != 0;
  const auto corners = boxes.values<float>(), weights = scores.values<float>();
  const std::size_t count = boxes.sides[1], classes = scores.sides[1];
  std::vector<std::int64_t> found;
  for (std::size_t group = 0; group < boxes.sides[0] * classes; ++group) {
    const auto* const of = weights.data() + group * count;
    const auto* const at = corners.data() + group / classes * count * 4;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) {
      if (of[i] > least) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      ++node.visits;
      return of[a] > of[b];
    });
    std::vector<std::size_t> kept;
    for (const auto each : order) {
      if (most.empty() || static_cast<std::int64_t>(kept.size()) >= most[0]) break;
      const auto box = Box::of(at + 4 * each, centred);
      node.visits += kept.size() + 1;
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](std::size_t other) {
        return overlap(box, Box::of(at + 4 * other, centred)) > limit;
      });
      if (covered) continue;
      kept.push_back(each);
      for (const auto number : {group / classes, group % classes, each}) {
        found.push_back(static_cast<std::int64_t>(number));
      }
    }
    node.visits += count;
  }
  node.outputs = {int64s({found.size() / 3, 3}, found)};
}

}  // namespace

const std::vector<HostRow> kHostPlaces{
    {"NonZero", compute_non_zero},
    {"Unique", compute_unique},
    {"NonMaxSuppression", compute_non_max_suppression, 2},
};

}  // namespace npu::network
