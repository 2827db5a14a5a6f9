// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace npu::operators {
namespace {

// Of an axis counted from the innermost one.
std::uint64_t side_of(const Sides& sides, std::size_t from_last) {
  return from_last < sides.size() ? sides[sides.size() - 1 - from_last] : 1;
}

}  // namespace

Result<Sides> broadcast_sides(const Sides& a, const Sides& b) {
  Sides to(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint64_t left = side_of(a, i), right = side_of(b, i);
    if (left != right && left != 1 && right != 1) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("sides of {} and {}; an axis has one side, or 1", left, right));
    }
    to[to.size() - 1 - i] = left == 1 ? right : left;
  }
  return to;
}

std::uint32_t repeated_axes(const Sides& operand, const Sides& to) {
  std::uint32_t axes = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool repeated = side_of(operand, i) == 1 && side_of(to, i) != 1;
    if (repeated) axes |= 1U << (to.size() - 1 - i);
  }
  return axes;
}

bool is_order(const std::vector<std::uint64_t>& order, std::size_t axes) {
  std::vector<std::uint64_t> sorted(order);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != i) return false;
  }
  return sorted.size() == axes;
}

std::uint64_t product_of(const Sides& sides, std::size_t axes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    if (sides[i] == 0) return 0;
    product = product > kMost / sides[i] ? kMost : product * sides[i];
  }
  return product;
}

}  // namespace npu::operators
