// SPDX-License-Identifier: Apache-2.0
// Elements of tensors on the host: bytes from and to numbers, rounded to nearest even.
#pragma once

#include <cstdint>
#include <string>

#include "npu/base/byte_span.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::workloads {

using platform::DataType;

// "fp16", "bf16", "fp32", "int8", "int32", "int64".
std::string_view name_of(DataType type);
DataType type_of(const std::string& name);

// Element `index` of an array.
double load_element(DataType type, const std::byte* array, std::uint64_t index);
// Integers saturate.
void store_element(DataType type, std::byte* array, std::uint64_t index, double value);

// Neighbouring elements from the first of `array` on, as double or float.
template <class Number>
void load_elements(DataType type, const std::byte* array, std::uint64_t count, Number* to);
template <class Number>
void store_elements(DataType type, std::byte* array, std::uint64_t count, const Number* from);

// The nearest one that the type has.
double rounded_to(DataType type, double value);

// Half the distance of neighbouring values of the type, relative to them; 0 for integers.
double rounding_error(DataType type);

// The distance of the type's values around 0: smaller ones cannot be told from it. 0 for integers.
double least_distance(DataType type);

// How far a result is from what was expected. 0: both are no number, or the same infinity.
// Infinite: one of them alone is no number or infinite, or they are two infinities.
double distance_of(double found, double expected);
// Without its sign; 0 of what is no number or infinite: what is allowed as an error grows with it.
double finite_size(double value);

// The `index`-th of an endless row of multiples of 1/64 up to 1/8 (integers: of 1 up to 8): every
// type holds them, and sums of 2^18 products of them are exact in fp32, in any order.
double exact_value(DataType type, std::uint64_t seed, std::uint64_t index);
// Those from the `first`-th on.
void fill_exact(DataType type, ByteSpan bytes, std::uint64_t seed, std::uint64_t first = 0);

}  // namespace npu::workloads
