// SPDX-License-Identifier: Apache-2.0
// Operators of several vector instructions as their kernel is told of them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/device/shipped/set_up.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::vector {

enum class Operator : std::uint8_t {
  kSigmoid,
  kGelu,  // x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))): with tanh
  kMish,
  kExp,      // exp(scale x)
  kMaximum,  // of a and b; a NaN of bf16 wins
};
inline constexpr unsigned kOperators = 5;

constexpr bool has_second(Operator op) {
  return op == Operator::kMaximum;
}
// kMaximum knows kInt32 and kInt64, too.
constexpr bool knows(Operator op, platform::DataType type) {
  using platform::DataType;
  const bool real = type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32;
  return real || (op == Operator::kMaximum && type != DataType::kInt8);
}

// to[i] = op(a[i], b[i]) for `count` elements. Block j of n works on the j-th of n equal parts, in
// whole 512 B.
struct OperatorWork {
  std::uint64_t to = 0, a = 0, b = 0;  // device addresses
  std::uint64_t count = 0;
  Operator op = Operator::kSigmoid;
  platform::DataType type = platform::DataType::kFp32;
  float scale = 1;
  Tiling tiling = Tiling::kArguments;
  std::uint64_t structure = 0;  // with Tiling::kRunTime: where kTilingBytes of it lie
};

inline constexpr unsigned kOperatorWords = 7;

inline std::array<std::uint64_t, kOperatorWords> to_words(const OperatorWork& work) {
  std::uint32_t scale = 0;
  std::memcpy(&scale, &work.scale, sizeof scale);
  const auto tiling = static_cast<std::uint64_t>(work.tiling);
  const auto kind =
      static_cast<std::uint64_t>(work.op) << 32 | static_cast<std::uint64_t>(work.type);
  return {work.to, work.a, work.b, work.count, kind, tiling << 32 | scale, work.structure};
}

inline OperatorWork operator_from(const std::array<std::uint64_t, kOperatorWords>& words) {
  OperatorWork work;
  work.to = words[0];
  work.a = words[1];
  work.b = words[2];
  work.count = words[3];
  work.op = aicore::enumerator<Operator>(words[4] >> 32, kOperators);
  work.type = aicore::data_type(words[4] & 0xFFFF'FFFF);
  const auto scale = static_cast<std::uint32_t>(words[5]);
  std::memcpy(&work.scale, &scale, sizeof work.scale);
  work.tiling = aicore::enumerator<Tiling>(words[5] >> 32, platform::kTilings);
  work.structure = words[6];
  return work;
}

inline bool valid(const OperatorWork& work) {
  return static_cast<unsigned>(work.op) < kOperators && platform::bytes_of(work.type) != 0 &&
         knows(work.op, work.type) && static_cast<unsigned>(work.tiling) < platform::kTilings &&
         work.count <= aicore::kMostElements;
}

}  // namespace npu::kernels::vector
