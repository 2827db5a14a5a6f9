// SPDX-License-Identifier: Apache-2.0
// Loops without branches, on bits, which compilers turn into vector instructions.
#include "model/aicore/arithmetic/convert.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace npu::model::arithmetic {

using platform::DataType;

namespace {

template <class T>
T bits(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class To, class From>
To as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
T element(const void* array, std::size_t i) {
  return bits<T>(static_cast<const unsigned char*>(array) + i * sizeof(T));
}
template <class T>
void set_element(void* array, std::size_t i, T value) {
  std::memcpy(static_cast<unsigned char*>(array) + i * sizeof(T), &value, sizeof value);
}

constexpr std::uint32_t kInfinity = 0x7F80'0000;

// The half's exponent and mantissa, taken as those of a float, are the value / 2^112, which is
// exact for subnormal halves, too. Infinities and NaNs get the float's largest exponent.
float half_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = (half & 0x7FFFU) << 13;
  const float scaled = as<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x0F80'0000 ? kInfinity : 0;
  return as<float>(as<std::uint32_t>(scaled) | special | (half & 0x8000U) << 16);
}

// Normal halves: the mantissa's lower 13 bits are rounded away, a carry goes into the exponent.
// Subnormal ones: adding 0.5 leaves the value's bits at the end of the sum's mantissa, rounded.
std::uint16_t float_to_half(float value) {
  const auto all = as<std::uint32_t>(value);
  const std::uint32_t magnitude = all & 0x7FFF'FFFF;
  const std::uint32_t odd = magnitude >> 13 & 1;
  const std::uint32_t normal = (magnitude + 0xFFF + odd - 0x3800'0000) >> 13;
  const std::uint32_t subnormal =
      as<std::uint32_t>(as<float>(magnitude) + 0.5F) - as<std::uint32_t>(0.5F);
  const std::uint32_t nan = 0x7E00 | (magnitude >> 13 & 0x3FF);
  std::uint32_t half = magnitude < 0x3880'0000 ? subnormal : normal;
  half = magnitude >= 0x477F'F000 ? 0x7C00 : half;  // rounds to 65536 or more
  half = magnitude > kInfinity ? nan : half;
  return static_cast<std::uint16_t>(half | (all >> 16 & 0x8000));
}

float brain_to_float(std::uint16_t brain) {
  return as<float>(std::uint32_t{brain} << 16);
}

std::uint16_t float_to_brain(float value) {
  const auto all = as<std::uint32_t>(value);
  const std::uint32_t rounded = (all + 0x7FFF + (all >> 16 & 1)) >> 16;
  const std::uint32_t nan = all >> 16 | 0x40;
  return static_cast<std::uint16_t>((all & 0x7FFF'FFFF) > kInfinity ? nan : rounded);
}

template <class T>
T float_to_integer(float value) {
  constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
  if (std::isnan(value)) return 0;
  const float rounded = std::nearbyint(value);
  if (rounded <= kLow) return std::numeric_limits<T>::min();
  if (rounded >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

template <auto kConvert>
struct Each;  // how one element is converted
template <class From, class To, To (*kConvert)(From)>
struct Each<kConvert> {
  [[gnu::always_inline]] static void all(const void* from, void* to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      set_element<To>(to, i, kConvert(element<From>(from, i)));
  }
#ifdef __x86_64__
  // The same with eight lanes, where the machine has them.
  [[gnu::target("avx2")]] static void wide(const void* from, void* to, std::size_t count) {
    all(from, to, count);
  }
#endif
};

template <auto kConvert>
void each(const void* from, void* to, std::size_t count) {
#ifdef __x86_64__
  static const bool kHasWide = __builtin_cpu_supports("avx2") != 0;
  if (kHasWide) return Each<kConvert>::wide(from, to, count);
#endif
  Each<kConvert>::all(from, to, count);
}

#ifdef __x86_64__
// The instruction gives the bits of float_to_half(), of NaNs, too.
[[gnu::target("avx,f16c")]] void halves_of_floats(const void* from, void* to, std::size_t count) {
  const auto* in = static_cast<const unsigned char*>(from);
  auto* out = static_cast<unsigned char*>(to);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8, in += 32, out += 16) {
    __m256 floats;
    std::memcpy(&floats, in, sizeof floats);
    const __m128i halves = _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(out, &halves, sizeof halves);
  }
  Each<float_to_half>::all(in, out, count - i);
}
#endif

void halves(const void* from, void* to, std::size_t count) {
#ifdef __x86_64__
  // Every machine with AVX2 has it, too.
  static const bool kHasInstruction = __builtin_cpu_supports("avx2") != 0;
  if (kHasInstruction) return halves_of_floats(from, to, count);
#endif
  each<float_to_half>(from, to, count);
}

template <class T>
float integer_to_float(T value) {
  return static_cast<float>(value);
}

// Narrowing int32 keeps what is in range.
std::int8_t narrow(std::int32_t value) {
  return static_cast<std::int8_t>(std::clamp(value, -128, 127));
}
std::int32_t widen(std::int8_t value) {
  return value;
}

}  // namespace

void to_float(DataType from_type, const void* from, float* to, std::size_t count) {
  switch (from_type) {
    case DataType::kFp16:
      return each<half_to_float>(from, to, count);
    case DataType::kBf16:
      return each<brain_to_float>(from, to, count);
    case DataType::kFp32:
      std::memcpy(to, from, count * sizeof *to);
      return;
    case DataType::kInt8:
      return each<integer_to_float<std::int8_t>>(from, to, count);
    case DataType::kInt32:
      return each<integer_to_float<std::int32_t>>(from, to, count);
    case DataType::kInt64:
      return each<integer_to_float<std::int64_t>>(from, to, count);
  }
}

void from_float(const float* from, DataType to_type, void* to, std::size_t count) {
  switch (to_type) {
    case DataType::kFp16:
      return halves(from, to, count);
    case DataType::kBf16:
      return each<float_to_brain>(from, to, count);
    case DataType::kFp32:
      std::memcpy(to, from, count * sizeof *from);
      return;
    case DataType::kInt8:
      return each<float_to_integer<std::int8_t>>(from, to, count);
    case DataType::kInt32:
      return each<float_to_integer<std::int32_t>>(from, to, count);
    case DataType::kInt64:
      return each<float_to_integer<std::int64_t>>(from, to, count);
  }
}

void convert(DataType from_type, const void* from, DataType to_type, void* to, std::size_t count) {
  if (from_type == to_type) {
    std::memcpy(to, from, count * platform::bytes_of(from_type));
    return;
  }
  if (from_type == DataType::kInt32 && to_type == DataType::kInt8) {
    return each<narrow>(from, to, count);
  }
  if (from_type == DataType::kInt8 && to_type == DataType::kInt32) {
    return each<widen>(from, to, count);
  }
  if (from_type == DataType::kFp32) {
    return from_float(static_cast<const float*>(from), to_type, to, count);
  }
  // Through floats; the array itself need not be aligned for them.
  constexpr std::size_t kPart = 256;
  float part[kPart];
  const auto* const bytes = static_cast<const unsigned char*>(from);
  auto* const out = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < count; i += kPart) {
    const std::size_t n = std::min(kPart, count - i);
    to_float(from_type, bytes + i * platform::bytes_of(from_type), part, n);
    from_float(part, to_type, out + i * platform::bytes_of(to_type), n);
  }
}

}  // namespace npu::model::arithmetic
