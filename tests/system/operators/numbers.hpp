// SPDX-License-Identifier: Apache-2.0
// Element types by themselves, apart from the model's conversions: formats by exponents and digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "npu/platform/aicore_port.hpp"

namespace npu::test {

using platform::DataType;

struct Format {
  int digits;  // with the hidden one
  int least;   // exponent of the smallest normal number
  int most;    // exponent of the largest one
};
inline bool is_real(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32;
}
inline Format format_of(DataType type) {
  if (type == DataType::kFp16) return {11, -14, 15};
  if (type == DataType::kBf16) return {8, -126, 127};
  return {24, -126, 127};
}
// Half a unit in the last place of 1: the error of one rounding.
inline double unit(DataType type) {
  return is_real(type) ? std::ldexp(1, -format_of(type).digits) : 0;
}
// What a rounding near zero errs at most.
inline double smallest(DataType type) {
  const Format f = format_of(type);
  return is_real(type) ? std::ldexp(1, f.least - f.digits) : 0;
}
inline double largest(DataType type) {
  const Format f = format_of(type);
  return std::ldexp(2 - std::ldexp(1, 1 - f.digits), f.most);
}
inline double quantum(DataType type, double value) {
  const Format f = format_of(type);
  return std::ldexp(1, std::max(value == 0 ? f.least : std::ilogb(value), f.least) - f.digits + 1);
}
// The nearest element, ties to even; integers are rounded to nearest and end at their ends.
inline double rounded(DataType type, double value) {
  if (!is_real(type)) {
    const int bits = type == DataType::kInt8 ? 7 : 31;
    const double end = std::ldexp(1, bits);
    return std::fmax(-end, std::fmin(end - 1, std::nearbyint(value)));
  }
  if (std::isnan(value) || std::isinf(value)) return value;
  const double step = quantum(type, value);
  const double near = std::nearbyint(value / step) * step;
  return std::fabs(near) > largest(type) ? std::copysign(HUGE_VAL, value) : near;
}

inline std::uint64_t encoded_real(DataType type, double value) {
  const Format f = format_of(type);
  const int mantissa = f.digits - 1;
  const std::uint64_t top = static_cast<std::uint64_t>(f.most) * 2 + 1;  // exponent of no number
  const int width = type == DataType::kFp32 ? 32 : 16;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (width - 1) : 0;
  if (std::isnan(value)) return top << mantissa | std::uint64_t{1} << (mantissa - 1);
  if (std::isinf(value)) return sign | top << mantissa;
  const double size = std::fabs(value);
  if (size < std::ldexp(1, f.least)) {
    return sign | static_cast<std::uint64_t>(size / std::ldexp(1, f.least - mantissa));
  }
  const int exponent = std::ilogb(size);
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(size, mantissa - exponent)) -
                        (std::uint64_t{1} << mantissa);
  return sign | static_cast<std::uint64_t>(exponent + f.most) << mantissa | fraction;
}
inline double decoded_real(DataType type, std::uint64_t bits) {
  const Format f = format_of(type);
  const int mantissa = f.digits - 1;
  const int width = type == DataType::kFp32 ? 32 : 16;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << mantissa) - 1);
  const auto exponent =
      static_cast<int>(bits >> mantissa & static_cast<std::uint64_t>(f.most * 2 + 1));
  double size = 0;
  if (exponent == f.most * 2 + 1) {
    size = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<double>(fraction), f.least - mantissa);
  } else {
    size = std::ldexp(static_cast<double>(fraction) + std::ldexp(1, mantissa),
                      exponent - f.most - mantissa);
  }
  return (bits >> (width - 1) & 1) != 0 ? -size : size;
}

// Elements of any type as doubles, which hold all of them but large int64.
inline void put_element(std::vector<unsigned char>& bytes, std::uint64_t index, DataType type,
                        double value) {
  const std::size_t size = platform::bytes_of(type);
  const std::uint64_t bits = is_real(type)
                                 ? encoded_real(type, value)
                                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  std::memcpy(bytes.data() + index * size, &bits, size);
}
inline double get_element(const std::vector<unsigned char>& bytes, std::uint64_t index,
                          DataType type) {
  const std::size_t size = platform::bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size, size);
  if (is_real(type)) return decoded_real(type, bits);
  const unsigned spare = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<double>(static_cast<std::int64_t>(bits << spare) >> spare);
}

inline DataType type_named(const std::string& name) {
  const std::vector<std::string> names{"half", "bfloat16", "float", "int8", "int32", "int64"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<DataType>(i);
  }
  return static_cast<DataType>(0xFF);
}

// A result that differs from the exact one by at most `error` and a rounding to `type`.
inline bool near_enough(DataType type, double found, double exact, double error) {
  if (std::isnan(exact)) return std::isnan(found);
  if (std::isinf(exact)) return found == exact;
  if (std::isinf(found)) return std::fabs(exact) * (1 + unit(type)) + error >= largest(type);
  return std::fabs(found - exact) <=
         error + unit(type) * (std::fabs(exact) + error) + smallest(type);
}

}  // namespace npu::test
