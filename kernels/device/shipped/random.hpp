// SPDX-License-Identifier: Apache-2.0
// Random numbers as their kernel is told of them.
#pragma once

#include <array>

#include "npu/aicore/kernel.hpp"

namespace npu::kernels::random {

enum class Distribution : std::uint8_t { kBits, kUniform, kNormal, kTruncatedNormal };
enum class Number : std::uint8_t { kInt32, kInt64, kUint32, kUint64, kBf16, kFp16, kFp32 };
inline constexpr unsigned kDistributions = 4, kNumbers = 7;

// to[i] = a number of the distribution: of kBits one bit, 1 with probability a; of kUniform a <= x
// < b; of the others mean a and standard deviation b, kTruncatedNormal within two of them. `a` and
// `b` are integers of the type, or bits of fp32.
struct Request {
  std::uint64_t to = 0;
  std::uint64_t counter = 0;  // device address of 16 bytes: the first group's number
  std::uint64_t seed = 0;
  std::uint64_t count = 0;
  Distribution distribution = Distribution::kUniform;
  Number type = Number::kFp32;
  std::uint64_t a = 0, b = 0;
};

inline constexpr unsigned kWords = 7;

constexpr std::array<std::uint64_t, kWords> to_words(const Request& r) {
  const auto kind =
      static_cast<std::uint64_t>(r.distribution) << 32 | static_cast<std::uint64_t>(r.type);
  return {r.to, r.counter, r.seed, r.count, kind, r.a, r.b};
}

constexpr Request from_words(const std::array<std::uint64_t, kWords>& words) {
  Request r;
  r.to = words[0];
  r.counter = words[1];
  r.seed = words[2];
  r.count = words[3];
  r.distribution = aicore::enumerator<Distribution>(words[4] >> 32, kDistributions);
  r.type = aicore::enumerator<Number>(words[4] & 0xFFFF'FFFF, kNumbers);
  r.a = words[5];
  r.b = words[6];
  return r;
}

constexpr unsigned bytes_of(Number type) {
  return type == Number::kInt64 || type == Number::kUint64 ? 8
         : type == Number::kBf16 || type == Number::kFp16  ? 2
                                                           : 4;
}

constexpr bool is_float(Number type) {
  return type == Number::kBf16 || type == Number::kFp16 || type == Number::kFp32;
}

// Whether there are such numbers, at such addresses.
constexpr bool valid(const Request& r) {
  const bool bits = r.distribution == Distribution::kBits;
  const unsigned bytes = bits ? 1 : bytes_of(r.type);
  return static_cast<unsigned>(r.distribution) < kDistributions &&
         static_cast<unsigned>(r.type) < kNumbers && r.count <= aicore::kMostElements &&
         r.to % bytes == 0 && r.counter % 8 == 0 &&
         (is_float(r.type) || r.distribution == Distribution::kUniform);
}

}  // namespace npu::kernels::random
