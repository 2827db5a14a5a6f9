// SPDX-License-Identifier: Apache-2.0
// Numbers of the types that tensors have, one at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "npu/abi/tensor_work.hpp"

namespace npu::firmware {

using abi::TensorNumber;

// In one of three forms, which hold any number of its type.
struct Number {
  enum class Form : std::uint8_t { kReal, kSigned, kUnsigned };
  Form form = Form::kReal;
  double real = 0;
  std::int64_t whole = 0;
  std::uint64_t natural = 0;

  static Number of(double value) { return {Form::kReal, value, 0, 0}; }
  static Number of(std::int64_t value) { return {Form::kSigned, 0, value, 0}; }
  static Number of(std::uint64_t value) { return {Form::kUnsigned, 0, 0, value}; }
};

constexpr unsigned bytes_of(TensorNumber type) {
  switch (type) {
    case TensorNumber::kInt8:
    case TensorNumber::kUint8:
    case TensorNumber::kBool:
      return 1;
    case TensorNumber::kFloat16:
    case TensorNumber::kBfloat16:
    case TensorNumber::kInt16:
    case TensorNumber::kUint16:
      return 2;
    case TensorNumber::kFloat32:
    case TensorNumber::kInt32:
    case TensorNumber::kUint32:
      return 4;
    case TensorNumber::kFloat64:
    case TensorNumber::kInt64:
    case TensorNumber::kUint64:
      return 8;
  }
  return 0;
}
constexpr bool is_real(TensorNumber type) {
  return type <= TensorNumber::kFloat64;
}

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// A real of `exponent` and `fraction` bits below the sign, from its bits.
inline double unpack(std::uint32_t bits, int exponent, int fraction) {
  const auto sign = (bits >> (exponent + fraction) & 1) != 0 ? -1.0 : 1.0;
  const auto power = static_cast<int>(bits >> fraction & ((1U << exponent) - 1));
  const auto rest = static_cast<double>(bits & ((1U << fraction) - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  if (power == (1 << exponent) - 1) {
    return rest != 0 ? std::numeric_limits<double>::quiet_NaN()
                     : sign * std::numeric_limits<double>::infinity();
  }
  if (power == 0) return sign * std::ldexp(rest, 1 - bias - fraction);
  return sign * std::ldexp(rest + std::ldexp(1.0, fraction), power - bias - fraction);
}

// And back: to nearest, of two the even one; what is too large is infinite.
inline std::uint32_t pack(double value, int exponent, int fraction) {
  const std::uint32_t sign = std::signbit(value) ? 1U << (exponent + fraction) : 0;
  const std::uint32_t infinite = ((1U << exponent) - 1) << fraction;
  if (std::isnan(value)) return sign | infinite | 1U << (fraction - 1);
  const int bias = (1 << (exponent - 1)) - 1;
  const double size = std::fabs(value);
  if (size == 0) return sign;
  if (std::isinf(size)) return sign | infinite;
  int power = std::ilogb(size);
  if (power < 1 - bias) power = 1 - bias;
  const double units = std::nearbyint(std::ldexp(size, fraction - power));
  // A fraction that rounds up to 2 carries into the power.
  const double limit = std::ldexp(1.0, fraction);
  const double above = units - limit;
  if (above < 0) return sign | static_cast<std::uint32_t>(units);
  const double packed = std::ldexp(static_cast<double>(power + bias), fraction) + above;
  return packed >= static_cast<double>(infinite) ? sign | infinite
                                                 : sign | static_cast<std::uint32_t>(packed);
}

inline Number number_of(TensorNumber type, std::uint64_t bits) {
  switch (type) {
    case TensorNumber::kFloat16:
      return Number::of(unpack(static_cast<std::uint32_t>(bits), 5, 10));
    case TensorNumber::kBfloat16:
      return Number::of(unpack(static_cast<std::uint32_t>(bits), 8, 7));
    case TensorNumber::kFloat32:
      return Number::of(static_cast<double>(same_bits<float>(static_cast<std::uint32_t>(bits))));
    case TensorNumber::kFloat64:
      return Number::of(same_bits<double>(bits));
    case TensorNumber::kInt8:
      return Number::of(std::int64_t{static_cast<std::int8_t>(bits)});
    case TensorNumber::kInt16:
      return Number::of(std::int64_t{static_cast<std::int16_t>(bits)});
    case TensorNumber::kInt32:
      return Number::of(std::int64_t{static_cast<std::int32_t>(bits)});
    case TensorNumber::kInt64:
      return Number::of(static_cast<std::int64_t>(bits));
    case TensorNumber::kBool:
      return Number::of(std::uint64_t{bits != 0});
    default:
      return Number::of(bits);
  }
}

inline double real_of(const Number& number) {
  switch (number.form) {
    case Number::Form::kSigned:
      return static_cast<double>(number.whole);
    case Number::Form::kUnsigned:
      return static_cast<double>(number.natural);
    default:
      return number.real;
  }
}

// Towards 0, within the bounds; what is no number is 0.
template <class Integer>
Integer clamped(double value) {
  constexpr Integer kLow = std::numeric_limits<Integer>::min();
  constexpr Integer kHigh = std::numeric_limits<Integer>::max();
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(kLow)) return kLow;
  if (value >= static_cast<double>(kHigh)) return kHigh;
  return static_cast<Integer>(value);
}

// Integers of other types keep their lowest bits, as a conversion in C does.
template <class Integer>
std::uint64_t integer_bits(const Number& number) {
  switch (number.form) {
    case Number::Form::kSigned:
      return static_cast<std::uint64_t>(number.whole);
    case Number::Form::kUnsigned:
      return number.natural;
    default:
      return static_cast<std::uint64_t>(clamped<Integer>(number.real));
  }
}

inline std::uint64_t bits_of(TensorNumber type, const Number& number) {
  switch (type) {
    case TensorNumber::kFloat16:
      return pack(real_of(number), 5, 10);
    case TensorNumber::kBfloat16:
      return pack(real_of(number), 8, 7);
    case TensorNumber::kFloat32:
      return same_bits<std::uint32_t>(static_cast<float>(real_of(number)));
    case TensorNumber::kFloat64:
      return same_bits<std::uint64_t>(real_of(number));
    case TensorNumber::kInt8:
      return integer_bits<std::int8_t>(number);
    case TensorNumber::kInt16:
      return integer_bits<std::int16_t>(number);
    case TensorNumber::kInt32:
      return integer_bits<std::int32_t>(number);
    case TensorNumber::kInt64:
      return integer_bits<std::int64_t>(number);
    case TensorNumber::kUint8:
      return integer_bits<std::uint8_t>(number);
    case TensorNumber::kUint16:
      return integer_bits<std::uint16_t>(number);
    case TensorNumber::kUint32:
      return integer_bits<std::uint32_t>(number);
    case TensorNumber::kUint64:
      return integer_bits<std::uint64_t>(number);
    case TensorNumber::kBool:
      return number.form == Number::Form::kReal
                 ? number.real != 0
                 : (number.whole | static_cast<std::int64_t>(number.natural)) != 0;
  }
  return 0;
}

}  // namespace npu::firmware
