// SPDX-License-Identifier: Apache-2.0
// Products of sides.
#pragma once

#include <functional>
#include <numeric>

#include "workloads/network/tensor.hpp"

namespace npu::network {

// Of sides begin .. end - 1.
inline std::uint64_t product_of(const Sides& sides, std::size_t begin, std::size_t end) {
  return std::accumulate(sides.begin() + static_cast<std::ptrdiff_t>(begin),
                         sides.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{1},
                         std::multiplies<>());
}
// Operators want one side at least.
inline Sides or_one(const Sides& sides) {
  return sides.empty() ? Sides{1} : sides;
}

}  // namespace npu::network
