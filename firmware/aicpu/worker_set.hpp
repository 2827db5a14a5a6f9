// SPDX-License-Identifier: Apache-2.0
// Some of the workers of a thread, or of its clusters, by their place in its list: asked for the
// next one and for how many they are without a look at the others.
#pragma once

#include <array>
#include <cstdint>

namespace npu::firmware {

class WorkerSet {
 public:
  static constexpr unsigned kMost = 256;
  static constexpr unsigned kNone = kMost;

  unsigned count() const { return count_; }
  void put(unsigned place, bool is_in) {
    std::uint64_t& word = words_[place / kBits];
    const std::uint64_t bit = std::uint64_t{1} << place % kBits;
    if (((word & bit) != 0) == is_in) return;
    word ^= bit;
    count_ = is_in ? count_ + 1 : count_ - 1;
  }
  // The first one at `from` or behind; kNone: there is none.
  unsigned next(unsigned from) const {
    for (unsigned i = from / kBits; i < words_.size(); ++i) {
      std::uint64_t word = words_[i];
      if (i == from / kBits) word &= ~std::uint64_t{0} << from % kBits;
      if (word != 0) return i * kBits + static_cast<unsigned>(__builtin_ctzll(word));
    }
    return kNone;
  }

 private:
  static constexpr unsigned kBits = 64;

  std::array<std::uint64_t, kMost / kBits> words_{};
  unsigned count_ = 0;
};

}  // namespace npu::firmware
