// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace npu::workloads {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"fp16", "bf16",  "fp32",
                                                    "int8", "int32", "int64"};

struct FloatFormat {
  int mantissa, min_exponent, max_exponent;  // of normal numbers
};
constexpr FloatFormat kHalf = {10, -14, 15};
constexpr FloatFormat kBfloat = {7, -126, 127};

// Bits of `value` in a 16-bit format.
std::uint16_t encode(const FloatFormat& format, double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int exponent_bits = 15 - format.mantissa;
  const auto infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << format.mantissa);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1);
  const double size = std::fabs(value);
  if (size == 0) return sign;
  int exponent = std::isinf(value) ? format.max_exponent + 1 : std::ilogb(size);
  if (exponent > format.max_exponent) return static_cast<std::uint16_t>(sign | infinity);
  exponent = std::max(exponent, format.min_exponent);
  // Units in the last place; nearbyint() rounds to even.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, format.mantissa - exponent)));
  const int biased = exponent - format.min_exponent;
  // A carry out of the mantissa moves on to the exponent, up to infinity, by itself.
  return static_cast<std::uint16_t>(sign | ((biased << format.mantissa) + units));
}

double decode(const FloatFormat& format, std::uint16_t bits) {
  const int mantissa = bits & ((1 << format.mantissa) - 1);
  const int biased = (bits & 0x7FFF) >> format.mantissa;
  const int exponent_bits = 15 - format.mantissa;
  double size = 0;
  if (biased == (1 << exponent_bits) - 1) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else if (biased == 0) {
    size = std::ldexp(mantissa, format.min_exponent - format.mantissa);
  } else {
    size = std::ldexp((1 << format.mantissa) + mantissa,
                      biased - 1 + format.min_exponent - format.mantissa);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

// All numbers of 16 bits.
std::vector<double> decoded(const FloatFormat& format) {
  std::vector<double> values(std::size_t{1} << 16);
  for (std::size_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode(format, static_cast<std::uint16_t>(bits));
  }
  return values;
}

template <class T>
T load_as(const std::byte* array, std::uint64_t index) {
  T value;
  std::memcpy(&value, array + index * sizeof(T), sizeof value);
  return value;
}
template <class T>
void store_as(std::byte* array, std::uint64_t index, T value) {
  std::memcpy(array + index * sizeof(T), &value, sizeof value);
}
template <class T>
T saturated(double value) {
  const double low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(std::nearbyint(value), low, high));
}
// The largest int64 is no double.
template <>
std::int64_t saturated(double value) {
  const double rounded = std::nearbyint(value);
  if (rounded >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (rounded < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(rounded);
}

}  // namespace

std::string_view name_of(DataType type) {
  return kNames[static_cast<std::size_t>(type)];
}

DataType type_of(const std::string& name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  return static_cast<DataType>(found - kNames.begin());
}

double load_element(DataType type, const std::byte* array, std::uint64_t index) {
  static const std::vector<double> kHalfs = decoded(kHalf), kBfloats = decoded(kBfloat);
  switch (type) {
    case DataType::kFp16:
      return kHalfs[load_as<std::uint16_t>(array, index)];
    case DataType::kBf16:
      return kBfloats[load_as<std::uint16_t>(array, index)];
    case DataType::kFp32:
      return load_as<float>(array, index);
    case DataType::kInt8:
      return load_as<std::int8_t>(array, index);
    case DataType::kInt32:
      return load_as<std::int32_t>(array, index);
    case DataType::kInt64:
      return static_cast<double>(load_as<std::int64_t>(array, index));
  }
  return 0;
}

void store_element(DataType type, std::byte* array, std::uint64_t index, double value) {
  switch (type) {
    case DataType::kFp16:
      return store_as(array, index, encode(kHalf, value));
    case DataType::kBf16:
      return store_as(array, index, encode(kBfloat, value));
    case DataType::kFp32:
      return store_as(array, index, static_cast<float>(value));
    case DataType::kInt8:
      return store_as(array, index, saturated<std::int8_t>(value));
    case DataType::kInt32:
      return store_as(array, index, saturated<std::int32_t>(value));
    case DataType::kInt64:
      return store_as(array, index, saturated<std::int64_t>(value));
  }
}

double rounding_error(DataType type) {
  switch (type) {
    case DataType::kFp16:
      return std::ldexp(1, -11);
    case DataType::kBf16:
      return std::ldexp(1, -8);
    case DataType::kFp32:
      return std::ldexp(1, -24);
    default:
      return 0;
  }
}

}  // namespace npu::workloads
