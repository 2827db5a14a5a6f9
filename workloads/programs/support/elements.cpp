// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace npu::workloads {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"fp16", "bf16",  "fp32",
                                                    "int8", "int32", "int64"};

template <class To, class From>
To as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// A format of 16 bits, by the bits of doubles, which hold all its numbers exactly. No branches:
// compilers turn loops of these into vector instructions.
template <unsigned kMantissa, int kLeastExponent>
struct Format {
  static constexpr unsigned kDoubleMantissa = 52, kDropped = kDoubleMantissa - kMantissa;
  static constexpr std::uint64_t kDoubleInfinity = 0x7FFULL << kDoubleMantissa;
  static constexpr std::uint64_t kInfinity = ((1ULL << (15 - kMantissa)) - 1) << kMantissa;
  // The exponent of the format's subnormal numbers, as a double has it.
  static constexpr std::uint64_t kBelowNormal =
      static_cast<std::uint64_t>(1023 + kLeastExponent - 1) << kDoubleMantissa;

  // Normal numbers: what is dropped rounds to even, a carry moves on to the exponent, up to
  // infinity, by itself. Smaller ones: beside `unit` a double has as many bits as are left of them.
  static std::uint16_t encode(double value) {
    constexpr auto kUnit = kBelowNormal + (std::uint64_t{kDropped + 1} << kDoubleMantissa);
    const auto bits = as<std::uint64_t>(value);
    const std::uint64_t size = bits & ~(1ULL << 63);
    const std::uint64_t odd = size >> kDropped & 1;
    const std::uint64_t normal =
        (size + (1ULL << (kDropped - 1)) - 1 + odd - kBelowNormal) >> kDropped;
    const std::uint64_t small = as<std::uint64_t>(as<double>(size) + as<double>(kUnit)) - kUnit;
    std::uint64_t result = normal < kInfinity ? normal : kInfinity;
    result = size < kBelowNormal + (1ULL << kDoubleMantissa) ? small : result;
    result = size > kDoubleInfinity ? kInfinity | 1 : result;
    return static_cast<std::uint16_t>(result | (bits >> 48 & 0x8000));
  }

  // The bits are those of a double that is smaller by a power of two.
  static double decode(std::uint16_t bits) {
    constexpr auto kLarger = static_cast<std::uint64_t>(2045 + kLeastExponent) << kDoubleMantissa;
    const std::uint64_t size = bits & 0x7FFFULL;
    const double value = as<double>(size << kDropped) * as<double>(kLarger);
    const std::uint64_t special = size >= kInfinity ? kDoubleInfinity : 0;
    const std::uint64_t sign = (bits & 0x8000ULL) << 48;
    return as<double>(as<std::uint64_t>(value) | special | sign);
  }
};
using Half = Format<10, -14>;
using Bfloat = Format<7, -126>;

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

template <class Number>
void load_elements(DataType type, const std::byte* array, std::uint64_t count, Number* to) {
  const auto each = [&](auto stored, auto number_of) {
    using Stored = decltype(stored);
    for (std::uint64_t i = 0; i < count; ++i) {
      to[i] = static_cast<Number>(number_of(load_as<Stored>(array, i)));
    }
  };
  const auto as_it_is = [](auto stored) { return stored; };
  switch (type) {
    case DataType::kFp16:
      return each(std::uint16_t{}, Half::decode);
    case DataType::kBf16:
      return each(std::uint16_t{}, Bfloat::decode);
    case DataType::kFp32:
      return each(float{}, as_it_is);
    case DataType::kInt8:
      return each(std::int8_t{}, as_it_is);
    case DataType::kInt32:
      return each(std::int32_t{}, as_it_is);
    case DataType::kInt64:
      return each(std::int64_t{}, [](std::int64_t stored) { return static_cast<double>(stored); });
  }
}
template void load_elements(DataType, const std::byte*, std::uint64_t, float*);
template void load_elements(DataType, const std::byte*, std::uint64_t, double*);

template <class Number>
void store_elements(DataType type, std::byte* array, std::uint64_t count, const Number* from) {
  const auto each = [&](auto stored_of) {
    for (std::uint64_t i = 0; i < count; ++i) store_as(array, i, stored_of(double{from[i]}));
  };
  switch (type) {
    case DataType::kFp16:
      return each(Half::encode);
    case DataType::kBf16:
      return each(Bfloat::encode);
    case DataType::kFp32:
      return each([](double value) { return static_cast<float>(value); });
    case DataType::kInt8:
      return each(saturated<std::int8_t>);
    case DataType::kInt32:
      return each(saturated<std::int32_t>);
    case DataType::kInt64:
      return each(saturated<std::int64_t>);
  }
}
template void store_elements(DataType, std::byte*, std::uint64_t, const float*);
template void store_elements(DataType, std::byte*, std::uint64_t, const double*);

double load_element(DataType type, const std::byte* array, std::uint64_t index) {
  double value = 0;
  load_elements(type, array + index * platform::bytes_of(type), 1, &value);
  return value;
}

void store_element(DataType type, std::byte* array, std::uint64_t index, double value) {
  store_elements(type, array + index * platform::bytes_of(type), 1, &value);
}

double rounded_to(DataType type, double value) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  store_element(type, bytes.data(), 0, value);
  return load_element(type, bytes.data(), 0);
}

double distance_of(double found, double expected) {
  const double distance = std::abs(found - expected);
  if (std::isfinite(distance)) return distance;
  const bool same = std::isnan(expected) ? std::isnan(found) : found == expected;
  return same ? 0 : std::numeric_limits<double>::infinity();
}

double finite_size(double value) {
  return std::isfinite(value) ? std::abs(value) : 0;
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

double least_distance(DataType type) {
  switch (type) {
    case DataType::kFp16:
      return std::ldexp(1, -24);
    case DataType::kBf16:
      return std::ldexp(1, -133);
    case DataType::kFp32:
      return std::ldexp(1, -149);
    default:
      return 0;
  }
}

}  // namespace npu::workloads
