// SPDX-License-Identifier: Apache-2.0
// The workloads' random numbers: the same on every machine and with every standard library.
// Generator: xoshiro256** seeded through splitmix64 (Blackman and Vigna, public domain algorithms).
#pragma once

#include <array>
#include <cstdint>

namespace npu::workloads {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) word = splitmix64(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // 0 .. bound - 1, each equally likely; bound must not be 0.
  std::uint64_t below(std::uint64_t bound) {
    // Values under 2^64 mod bound would make the small results more likely: draw again.
    const std::uint64_t unfair = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < unfair) value = next();
    return value % bound;
  }

  // first .. last, both included.
  std::uint64_t between(std::uint64_t first, std::uint64_t last) {
    return first + below(last - first + 1);
  }

  // One step of splitmix64; advances `state`.
  static std::uint64_t splitmix64(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  static std::uint64_t rotate(std::uint64_t v, unsigned n) { return v << n | v >> (64 - n); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace npu::workloads
