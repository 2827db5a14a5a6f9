// SPDX-License-Identifier: Apache-2.0
// On the host: operators that compute one element after the other.
#include <algorithm>
#include <cmath>

#include "workloads/network/host_nodes.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

// compute(T()) for the type of the tensor; refused: it is none of these.
template <class Compute>
void of_type(HostNode& node, ElementType type, const Compute& compute) {
  switch (type) {
    case ElementType::kFloat:
      return compute(float());
    case ElementType::kDouble:
      return compute(double());
    case ElementType::kInt32:
      return compute(std::int32_t());
    case ElementType::kInt64:
      return compute(std::int64_t());
    default:
      node.refuse(std::string("the host does not compute with ") + std::string(row_of(type).name));
  }
}

// By elimination with the largest pivot of each column.
double determinant(std::vector<double>& rows, std::size_t size) {
  double result = 1;
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < size; ++row) {
      const auto larger =
          std::abs(rows[row * size + column]) > std::abs(rows[pivot * size + column]);
      if (larger) pivot = row;
    }
    const double head = rows[pivot * size + column];
    if (head == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(&rows[pivot * size], &rows[pivot * size] + size, &rows[column * size]);
      result = -result;
    }
    result *= head;
    for (std::size_t row = column + 1; row < size; ++row) {
      const double part = rows[row * size + column] / head;
      for (std::size_t i = column; i < size; ++i) {
        rows[row * size + i] -= part * rows[column * size + i];
      }
    }
  }
  return result;
}

void compute_det(HostNode& node) {
  const auto& x = node.inputs[0];
  const std::size_t axes = x.sides.size();
  if (axes < 2 || x.sides[axes - 1] != x.sides[axes - 2] || is_integer(x.type)) {
    return node.refuse("no square matrices of reals");
  }
  const std::size_t size = x.sides.back();
  of_type(node, x.type, [&](auto zero) {
    using T = decltype(zero);
    const auto all = x.values<T>();
    const Sides sides(x.sides.begin(), x.sides.end() - 2);
    std::vector<T> results;
    for (std::size_t i = 0; i < elements_of(sides); ++i) {
      std::vector<double> rows(size * size);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i * size * size), size * size,
                  rows.begin());
      results.push_back(static_cast<T>(determinant(rows, size)));
      node.visits += size * size * size;
    }
    node.outputs = {Tensor::of(x.type, sides, results)};
  });
}

template <class T>
T joined(const std::string& how, T a, T b) {
  if (how == "mul") return static_cast<T>(a * b);
  if (how == "max") return std::max(a, b);
  if (how == "min") return std::min(a, b);
  return static_cast<T>(a + b);
}

// `columns` numbers of the updates go to each place, in the updates' order.
void scatter(HostNode& node, const std::vector<std::uint64_t>& places, std::uint64_t columns) {
  const auto& x = node.inputs[0];
  const auto& updates = node.inputs[2];
  const auto how = node.node.attribute("reduction", std::string("none"));
  const bool is_known = how == "add" || how == "mul" || how == "max" || how == "min";
  if (!is_known) return node.refuse("reduction " + how);
  if (updates.type != x.type || updates.elements() != places.size() * columns) {
    return node.refuse("updates that do not fit their indices");
  }
  of_type(node, x.type, [&](auto zero) {
    using T = decltype(zero);
    auto values = x.values<T>();
    const auto more = updates.values<T>();
    for (std::size_t i = 0; i < more.size(); ++i) {
      auto& value = values[places[i / columns] * columns + i % columns];
      value = joined(how, value, more[i]);
    }
    node.visits = values.size() + 2 * more.size();
    node.outputs = {Tensor::of(x.type, x.sides, values)};
  });
}

// Negative ones are from the end. Refused: others.
std::uint64_t place_in(HostNode& node, std::int64_t index, std::uint64_t side) {
  const auto place = index < 0 ? index + static_cast<std::int64_t>(side) : index;
  const bool fits = place >= 0 && static_cast<std::uint64_t>(place) < side;
  if (!fits) node.refuse("an index " + std::to_string(index) + " of " + std::to_string(side));
  return fits ? static_cast<std::uint64_t>(place) : 0;
}

void compute_scatter_elements(HostNode& node) {
  const auto& sides = node.inputs[0].sides;
  const auto& indices = node.inputs[1];
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{0}), sides.size());
  const auto named = integers_of(indices);
  bool fits = indices.sides.size() == sides.size() && named.size() == indices.elements();
  for (std::size_t i = 0; fits && i < sides.size(); ++i) {
    fits = i == axis || indices.sides[i] <= sides[i];
  }
  if (!node.status || !fits) return node.refuse("indices that do not fit the tensor");
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < named.size(); ++i) {
    std::uint64_t place = 0;
    for (std::size_t each = 0; each < sides.size(); ++each) {
      const auto behind = product_of(indices.sides, each + 1, sides.size());
      const auto own = i / behind % indices.sides[each];
      place = place * sides[each] + (each == axis ? place_in(node, named[i], sides[axis]) : own);
    }
    places.push_back(place);
  }
  if (node.status) scatter(node, places, 1);
}

void compute_scatter_nd(HostNode& node) {
  const auto& sides = node.inputs[0].sides;
  const auto& indices = node.inputs[1];
  const auto named = integers_of(indices);
  const std::size_t depth = indices.sides.empty() ? 0 : indices.sides.back();
  if (depth == 0 || depth > sides.size() || named.size() != indices.elements()) {
    return node.refuse("indices that do not fit the tensor");
  }
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < named.size(); i += depth) {
    std::uint64_t place = 0;
    for (std::size_t each = 0; each < depth; ++each) {
      place = place * sides[each] + place_in(node, named[i + each], sides[each]);
    }
    places.push_back(place);
  }
  if (node.status) scatter(node, places, product_of(sides, depth, sides.size()));
}

}  // namespace

const std::vector<HostRow> kHostSums{
    {"Det", compute_det},
    {"ScatterElements", compute_scatter_elements, 3},
    {"ScatterND", compute_scatter_nd, 3},
};

}  // namespace npu::network
