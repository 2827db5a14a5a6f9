// SPDX-License-Identifier: Apache-2.0
// Attention over blocks of keys, one task per step and block, and the words each step is told in:
//   scores:  S = Q x K^T
//   softmax: m = max of each row of s S, P = exp(s S - m), l = sum of each row of P
//   (values: V' = P x V is the matmul kernel's)
//   update:  what the blocks before gave is rescaled to the larger maximum, the block is added
// Statistics of a tile are its maxima, then its sums, one fp32 per row each.
#pragma once

#include <cstdint>
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace npu::kernels::attention {

// What a kernel returns when its tile does not fit into the core's buffers.
inline constexpr int kTooLarge = 1;

constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

struct Scores {
  static constexpr unsigned kWords = 5;
  std::uint64_t queries = 0, keys = 0, scores = 0;  // rows x head, count x head, rows x count
  std::uint32_t rows = 0, count = 0, head = 0;
  platform::DataType type = platform::DataType::kFp16;  // of queries and keys; scores are fp32

  template <class Words>  // word(i) of a task, or the like
  static Scores from(const Words& words) {
    return {words.word(0),
            words.word(1),
            words.word(2),
            low(words.word(3)),
            high(words.word(3)),
            low(words.word(4)),
            aicore::data_type(high(words.word(4)))};
  }
  bool valid() const { return platform::bytes_of(type) != 0; }
  std::uint64_t shape() const { return pair(rows, count); }
  std::uint64_t depth() const { return pair(head, static_cast<std::uint32_t>(type)); }
};

struct Softmax {
  static constexpr unsigned kWords = 6;
  std::uint64_t scores = 0, weights = 0, statistics = 0;
  std::uint32_t rows = 0, count = 0;
  platform::DataType type = platform::DataType::kFp16;  // of the weights
  float scale = 1;

  template <class Words>
  static Softmax from(const Words& words) {
    Softmax s{words.word(0),      words.word(1),       words.word(2),
              low(words.word(3)), high(words.word(3)), aicore::data_type(words.word(4))};
    const std::uint32_t bits = low(words.word(5));
    std::memcpy(&s.scale, &bits, sizeof bits);
    return s;
  }
  bool valid() const { return platform::bytes_of(type) != 0; }
  std::uint64_t shape() const { return pair(rows, count); }
  std::uint64_t scale_bits() const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof bits);
    return bits;
  }
};

struct Update {
  static constexpr unsigned kWords = 6;
  std::uint64_t output = 0, total = 0;       // so far, and its statistics
  std::uint64_t values = 0, statistics = 0;  // of the block to be added
  std::uint32_t rows = 0, head = 0;
  bool first = false, last = false;  // the first block begins, the last one divides by the sums

  template <class Words>
  static Update from(const Words& words) {
    return {words.word(0),           words.word(1),           words.word(2),
            words.word(3),           low(words.word(4)),      high(words.word(4)),
            low(words.word(5)) != 0, high(words.word(5)) != 0};
  }
  bool valid() const { return true; }
  std::uint64_t shape() const { return pair(rows, head); }
  std::uint64_t place() const { return pair(first ? 1 : 0, last ? 1 : 0); }
};

}  // namespace npu::kernels::attention
