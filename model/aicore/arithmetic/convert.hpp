// SPDX-License-Identifier: Apache-2.0
// Conversions between the data types of AI Cores, to nearest, ties to even; the same bits on every
// machine.
#pragma once

#include <cstddef>

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

// `count` elements; the arrays may begin at any address and do not overlap.
void to_float(platform::DataType from_type, const void* from, float* to, std::size_t count);
// To integers: values out of range become the nearest there is, NaN 0.
void from_float(const float* from, platform::DataType to_type, void* to, std::size_t count);
// Between any two types. Integers to integers stay exact within range.
void convert(platform::DataType from_type, const void* from, platform::DataType to_type, void* to,
             std::size_t count);

}  // namespace npu::model::arithmetic
