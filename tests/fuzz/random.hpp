// SPDX-License-Identifier: Apache-2.0
// Reproducible choices (SplitMix64): the same seed makes the same choices on any machine.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace npu::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 to limit - 1; limit must not be 0.
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }
  bool percent(unsigned chance) { return below(100) < chance; }

  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  template <class Container>
  auto& in(Container& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace npu::fuzz
