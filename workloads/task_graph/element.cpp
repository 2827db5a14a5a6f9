// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/element.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace npu::workloads {
namespace {

constexpr DataType kTypes[] = {DataType::kFp16, DataType::kBf16, DataType::kFp32, DataType::kInt8,
                               DataType::kInt32};

// IEEE 754 binary16: 10 bits of fraction, smallest normal exponent -14.
constexpr int kHalfFraction = 10;
constexpr int kHalfSmallest = -14;
constexpr double kHalfLargest = 65504;
constexpr double kHalfInfinite = 65520;  // from here on, half way to the next, it is infinity

double from_half(std::uint16_t bits) {
  const int exponent = bits >> kHalfFraction & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, kHalfSmallest - kHalfFraction);
  } else {
    value = std::ldexp(fraction + 0x400, exponent - 15 - kHalfFraction);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isnan(value)) return 0x7E00;
  if (size >= kHalfInfinite) return static_cast<std::uint16_t>(sign | 0x7C00);
  const int exponent = std::max(size > 0 ? std::ilogb(size) : kHalfSmallest, kHalfSmallest);
  // In units of the last place; nearbyint() rounds to even.
  const auto units =
      static_cast<unsigned>(std::nearbyint(std::ldexp(size, kHalfFraction - exponent)));
  // A fraction that rounds up to the next power of two carries into the exponent by itself.
  const unsigned bits =
      units < 0x400 ? units : static_cast<unsigned>(exponent + 15 - 1) * 0x400 + units;
  return static_cast<std::uint16_t>(sign | bits);
}

std::uint32_t float_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint16_t to_bfloat(double value) {
  const std::uint32_t bits = float_bits(static_cast<float>(value));
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

double from_bfloat(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class T>
T read(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
T saturated(double value) {
  constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<T>::max());
  if (std::isnan(value)) return 0;
  return static_cast<T>(std::clamp(std::nearbyint(value), kLowest, kLargest));
}

}  // namespace

double load_element(const std::byte* from, DataType type) {
  switch (type) {
    case DataType::kFp16:
      return from_half(read<std::uint16_t>(from));
    case DataType::kBf16:
      return from_bfloat(read<std::uint16_t>(from));
    case DataType::kFp32:
      return read<float>(from);
    case DataType::kInt8:
      return read<std::int8_t>(from);
    case DataType::kInt32:
      return read<std::int32_t>(from);
  }
  return 0;
}

void store_element(std::byte* to, DataType type, double value) {
  switch (type) {
    case DataType::kFp16:
      return write(to, to_half(value));
    case DataType::kBf16:
      return write(to, to_bfloat(value));
    case DataType::kFp32:
      return write(to, static_cast<float>(value));
    case DataType::kInt8:
      return write(to, saturated<std::int8_t>(value));
    case DataType::kInt32:
      return write(to, saturated<std::int32_t>(value));
  }
}

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::kFp16:
      return "fp16";
    case DataType::kBf16:
      return "bf16";
    case DataType::kFp32:
      return "fp32";
    case DataType::kInt8:
      return "int8";
    case DataType::kInt32:
      return "int32";
  }
  return "?";
}

std::optional<DataType> data_type(std::string_view name) {
  for (const DataType type : kTypes) {
    if (name == to_string(type)) return type;
  }
  return std::nullopt;
}

std::vector<std::string> data_type_names() {
  std::vector<std::string> names;
  for (const DataType type : kTypes) names.emplace_back(to_string(type));
  return names;
}

}  // namespace npu::workloads
