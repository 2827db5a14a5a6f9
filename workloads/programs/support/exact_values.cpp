// SPDX-License-Identifier: Apache-2.0
// Loops without branches, which compilers turn into vector instructions.
#include <algorithm>
#include <array>
#include <cstring>

#include "workloads/framework/random.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

namespace {

constexpr std::uint64_t kStride = 0x9E37'79B9'7F4A'7C15;
constexpr std::uint64_t kValues = 17;
constexpr std::size_t kBlock = 256;
using Choices = std::array<std::uint8_t, kBlock>;

// Modulo 17, of which 2^8 leaves 1: the sum of the bytes leaves what the number does. No division,
// which vectors do not have.
[[gnu::always_inline]] inline std::uint8_t choice(std::uint64_t number) {
  number = (number >> 32) + (number & 0xFFFF'FFFF);
  number = (number >> 16) + (number & 0xFFFF);
  number = (number >> 8) + (number & 0xFF);
  const auto sum = static_cast<std::uint32_t>(number);  // below 2^11
  return static_cast<std::uint8_t>(sum - kValues * (sum * 0xF1 >> 12));
}

[[gnu::always_inline]] inline void choose_block(std::uint64_t seed, Choices& choices) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    std::uint64_t state = seed + i * kStride;
    choices[i] = choice(Random::splitmix64(state));
  }
}

#ifdef __x86_64__
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl")]] void choose_wide(std::uint64_t seed,
                                                                       Choices& choices) {
  choose_block(seed, choices);
}
#endif

// Which of the values the elements of a block have.
void choose(std::uint64_t seed, Choices& choices) {
#ifdef __x86_64__
  static const bool kHasWide =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (kHasWide) return choose_wide(seed, choices);
#endif
  choose_block(seed, choices);
}

template <std::size_t kSize>
using Encodings = std::array<std::array<std::byte, kSize>, kValues>;

// One encoding for each of the few values.
template <std::size_t kSize>
Encodings<kSize> encodings(DataType type) {
  Encodings<kSize> table{};
  const bool whole = type >= DataType::kInt8;
  int steps = -8;
  for (auto& bits : table) {
    store_element(type, bits.data(), 0, whole ? steps : steps / 64.0);
    ++steps;
  }
  return table;
}

template <std::size_t kSize>
void fill(DataType type, ByteSpan bytes, std::uint64_t seed) {
  const auto table = encodings<kSize>(type);
  const std::uint64_t count = bytes.size / kSize;
  Choices choices;
  for (std::uint64_t first = 0; first < count; first += kBlock) {
    choose(seed + first * kStride, choices);
    std::byte* to = bytes.data + first * kSize;
    const auto here = std::min<std::uint64_t>(kBlock, count - first);
    for (std::uint64_t i = 0; i < here; ++i, to += kSize) {
      std::memcpy(to, table[choices[i]].data(), kSize);
    }
  }
}

}  // namespace

double exact_value(DataType type, std::uint64_t seed, std::uint64_t index) {
  std::uint64_t state = seed + index * kStride;
  const auto steps = static_cast<int>(Random::splitmix64(state) % kValues) - 8;
  const bool whole = type >= DataType::kInt8;
  return whole ? steps : steps / 64.0;
}

void fill_exact(DataType type, ByteSpan bytes, std::uint64_t seed, std::uint64_t first) {
  seed += first * kStride;
  switch (platform::bytes_of(type)) {
    case 1:
      return fill<1>(type, bytes, seed);
    case 2:
      return fill<2>(type, bytes, seed);
    case 4:
      return fill<4>(type, bytes, seed);
    default:
      return fill<8>(type, bytes, seed);
  }
}

}  // namespace npu::workloads
