// SPDX-License-Identifier: Apache-2.0
// Axes of tensors: sides that are repeated to fit others, orders of axes.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::operators {

using Sides = std::vector<std::uint64_t>;

// Of the result, as NumPy has it: the last axes are one another's, missing ones have one element.
// kInvalidArgument: sides of an axis that differ, neither 1.
Result<Sides> broadcast_sides(const Sides& a, const Sides& b);
// A bit for each axis of `to`, from the outermost one: `operand` has one element there, `to` not.
std::uint32_t repeated_axes(const Sides& operand, const Sides& to);

// Each of 0 .. axes - 1 once.
bool is_order(const std::vector<std::uint64_t>& order, std::size_t axes);

// Of the first `axes` sides; the most a word holds if it is more.
std::uint64_t product_of(const Sides& sides, std::size_t axes);

}  // namespace npu::operators
