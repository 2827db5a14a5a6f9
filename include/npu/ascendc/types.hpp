// SPDX-License-Identifier: Apache-2.0
// Element types, pipes, places and events, by the names that AscendC has for them.
#pragma once

#include <type_traits>

#include "npu/ascendc/state.hpp"

namespace npu::ascendc {

// A real of two bytes. The scalar unit computes it in fp32 and rounds to nearest even.
template <unsigned kFraction>
class Half {
 public:
  Half() = default;
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Half(Number number) : bits_(rounded(static_cast<float>(number))) {}
  template <unsigned kOther, std::enable_if_t<kOther != kFraction, int> = 0>
  explicit Half(const Half<kOther>& other) : Half(static_cast<float>(other)) {}
  operator float() const { return widened(); }
  Half& operator+=(float other) { return *this = Half(widened() + other); }
  Half& operator-=(float other) { return *this = Half(widened() - other); }
  Half& operator*=(float other) { return *this = Half(widened() * other); }
  Half& operator/=(float other) { return *this = Half(widened() / other); }

 private:
  static constexpr unsigned kExponentBits = 15 - kFraction;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kInfinity = ((1U << kExponentBits) - 1) << kFraction;

  static std::uint16_t rounded(float number) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    const std::uint32_t sign = bits >> 16 & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
    if (magnitude > 0x7F80'0000U) return static_cast<std::uint16_t>(sign | kInfinity | 1U);
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    if (magnitude == 0x7F80'0000U || exponent >= (1 << kExponentBits) - 1) {
      return static_cast<std::uint16_t>(sign | kInfinity);
    }
    std::uint64_t value = magnitude & 0x7F'FFFFU;
    unsigned drop = 23 - kFraction;
    if (exponent > 0) {
      value |= static_cast<std::uint64_t>(exponent) << 23;
    } else {  // subnormal, or 0
      value |= magnitude >= 0x80'0000U ? 0x80'0000U : 0U;
      drop += std::min(static_cast<unsigned>(1 - exponent), 32U);
    }
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t odd = value >> drop & 1U;
    return static_cast<std::uint16_t>(sign | (value + half - 1 + odd) >> drop);
  }
  float widened() const {
    const std::uint32_t sign = (bits_ & 0x8000U) << 16, magnitude = bits_ & 0x7FFFU;
    const std::uint32_t exponent = magnitude >> kFraction;
    std::uint32_t bits = magnitude << (23 - kFraction);
    float number = 0;
    if (magnitude >= kInfinity) {
      bits |= 0x7F80'0000U;
    } else if (exponent != 0) {
      bits += static_cast<std::uint32_t>(127 - kBias) << 23;
    } else {  // the fraction alone, times the smallest normal number
      const std::uint32_t scale = static_cast<std::uint32_t>(127 - kBias + 1) << 23;
      bits |= scale;
      float base = 0;
      std::memcpy(&base, &scale, sizeof base);
      std::memcpy(&number, &bits, sizeof number);
      number -= base;
      std::memcpy(&bits, &number, sizeof bits);
    }
    bits |= sign;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  std::uint16_t bits_ = 0;
};

}  // namespace npu::ascendc

using half = npu::ascendc::Half<10>;
using bfloat16_t = npu::ascendc::Half<7>;

enum pipe_t {
  PIPE_S,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_FIX,
  PIPE_ALL,
};
enum event_t : int {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};
enum class QuantMode_t { NoQuant, F322F16, F322BF16, DEQF16 };

namespace AscendC {

using TEventID = std::int8_t;

enum class TPosition : std::uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  CO1,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
};
using QuePosition = TPosition;

enum class Hardware : std::uint8_t { L1, L0A, L0B, L0C, UB };

// Which pipe sets a flag, and which waits for it.
enum class HardEvent : std::uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_FIX,
  FIX_M,
  MTE2_MTE3,
  MTE3_MTE2,
  MTE2_S,
  S_MTE2,
  MTE3_S,
  S_MTE3,
  V_S,
  S_V,
  FIX_MTE2,
  MTE2_FIX,
  FIX_S,
  S_FIX,
  M_S,
  S_M,
  MTE1_S,
  S_MTE1,
};

enum class RoundMode : std::uint8_t { CAST_NONE, CAST_RINT };
enum class CMPMODE : std::uint8_t { LT, LE, GT, GE, EQ, NE };
enum class SELMODE : std::uint8_t { VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

}  // namespace AscendC

namespace npu::ascendc {

static_assert(PIPE_V == static_cast<int>(Pipe::kVector) &&
              PIPE_FIX == static_cast<int>(Pipe::kFixpipe) &&
              PIPE_ALL == static_cast<int>(Pipe::kAll));

struct PipePair {
  Pipe from, to;
};
constexpr PipePair pipes_of(AscendC::HardEvent event) {
  constexpr Pipe kM = Pipe::kCube, kV = Pipe::kVector, kS = Pipe::kScalar, kFix = Pipe::kFixpipe;
  constexpr PipePair kPairs[] = {
      {Pipe::kMte2, Pipe::kMte1},
      {Pipe::kMte1, Pipe::kMte2},
      {Pipe::kMte1, kM},
      {kM, Pipe::kMte1},
      {Pipe::kMte2, kV},
      {kV, Pipe::kMte2},
      {Pipe::kMte3, kV},
      {kV, Pipe::kMte3},
      {kM, kFix},
      {kFix, kM},
      {Pipe::kMte2, Pipe::kMte3},
      {Pipe::kMte3, Pipe::kMte2},
      {Pipe::kMte2, kS},
      {kS, Pipe::kMte2},
      {Pipe::kMte3, kS},
      {kS, Pipe::kMte3},
      {kV, kS},
      {kS, kV},
      {kFix, Pipe::kMte2},
      {Pipe::kMte2, kFix},
      {kFix, kS},
      {kS, kFix},
      {kM, kS},
      {kS, kM},
      {Pipe::kMte1, kS},
      {kS, Pipe::kMte1},
  };
  static_assert(sizeof kPairs / sizeof *kPairs ==
                static_cast<std::size_t>(AscendC::HardEvent::S_MTE1) + 1);
  return kPairs[static_cast<std::size_t>(event)];
}

// The buffer of a place.
constexpr LocalBuffer buffer_of(AscendC::TPosition place) {
  switch (place) {
    case AscendC::TPosition::A1:
    case AscendC::TPosition::B1:
    case AscendC::TPosition::C1:
      return LocalBuffer::kL1;
    case AscendC::TPosition::A2:
      return LocalBuffer::kL0a;
    case AscendC::TPosition::B2:
      return LocalBuffer::kL0b;
    case AscendC::TPosition::CO1:
      return LocalBuffer::kL0c;
    default:
      return LocalBuffer::kUb;
  }
}

// Not a type that the units have: only its bytes can be moved.
inline constexpr DataType kOnlyBytes = static_cast<DataType>(platform::kDataTypes);

template <class T>
constexpr DataType type_of() {
  if constexpr (std::is_same_v<T, half>) return DataType::kFp16;
  if constexpr (std::is_same_v<T, bfloat16_t>) return DataType::kBf16;
  if constexpr (std::is_same_v<T, float>) return DataType::kFp32;
  if constexpr (std::is_same_v<T, std::int8_t>) return DataType::kInt8;
  if constexpr (std::is_same_v<T, std::int32_t>) return DataType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DataType::kInt64;
  return kOnlyBytes;
}

}  // namespace npu::ascendc
