// SPDX-License-Identifier: Apache-2.0
// Steps that move elements of any type of a fixed size.
#pragma once

#include <vector>

#include "workloads/network/steps.hpp"

namespace npu::network {

// Axis i of the result is axis order[i].
Value transpose(Steps& steps, const Value& x, const std::vector<std::uint64_t>& order);
// Rows of a matrix; -1: a row of zeros. `indices` are int32.
Value gather_rows(Steps& steps, const Value& table, const Value& indices);
// A matrix of zeros with its row indices[i] from row i.
Value scatter_rows(Steps& steps, std::uint64_t rows, const Value& indices, const Value& values);
// The same into a copy of `table`.
Value with_rows(Steps& steps, const Value& table, const Value& indices, const Value& values);
// Along an axis: those rows, zeros for -1; or begin, begin + step, and so on.
Value rows_along(Steps& steps, const Value& x, std::size_t axis,
                 const std::vector<std::int64_t>& rows);
Value rows_of_axis(Steps& steps, const Value& x, std::size_t axis, std::int64_t begin,
                   std::int64_t step, std::uint64_t count);
// Refused: above what the type holds.
Value int32s(Steps& steps, const std::vector<std::int64_t>& values);
Value concat(Steps& steps, const std::vector<Value>& parts, std::size_t axis);
Value widen(Steps& steps, const Value& x);  // int32 into int64
// By an element of the condition, of one byte: not 0, or 0. Sides of 1 are repeated.
Value choose(Steps& steps, const Value& condition, const Value& a, const Value& b);
Value repeat(Steps& steps, const Value& x, const Sides& sides);  // sides of 1 repeated

}  // namespace npu::network
