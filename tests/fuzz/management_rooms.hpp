// SPDX-License-Identifier: Apache-2.0
// What calls of device management are given at random, and memory for their answers that knows what
// was written to it.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/fuzz/random.hpp"

namespace npu::fuzz {

class Rooms {
 public:
  static constexpr std::size_t kRoom = 16384;  // bytes; behind it is nothing

  explicit Rooms(std::uint64_t seed) : random_(seed) {
    for (auto*& room : rooms_) {
      void* const all =
          ::mmap(nullptr, 2 * kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (all == MAP_FAILED || ::mprotect(all, kRoom, PROT_READ | PROT_WRITE) != 0) std::abort();
      room = static_cast<unsigned char*>(all);
    }
  }

  Random& chance() { return random_; }
  // 0 most of the time, else a number at its ends.
  int id() {
    return random_.percent(75) ? 0 : random_.of({1, -1, 63, 64, 65535, INT32_MAX, INT32_MIN});
  }
  unsigned number() {
    if (random_.percent(70)) return static_cast<unsigned>(random_.below(40));
    return random_.percent(50) ? static_cast<unsigned>(random_.bits())
                               : random_.of({0xFFFFU, 0x8000U, ~0U, 0x7FFFFFFFU, 0x80000000U});
  }
  // Of a room; also too little, or more than there will be.
  unsigned size_near(std::size_t size) {
    const auto near = static_cast<unsigned>(size);
    if (random_.percent(60)) return near;
    return random_.of({0U, 1U, near - 1, near + 1, near / 2, 2 * near, 255U, 256U, 257U, 4096U});
  }

  // Nothing of an earlier call.
  void begin() { used_.clear(); }
  // So many bytes, at the end of memory; at times null. Filled with zeroes, ones, or at random.
  void* bytes(std::size_t size, unsigned null_percent = 8) {
    if (random_.percent(null_percent)) return nullptr;
    if (used_.size() == kRooms || size > kRoom) std::abort();
    unsigned char* const whole = rooms_[used_.size()];
    const std::size_t begin = (kRoom - size) / 8 * 8;
    const auto kind = random_.below(4);
    std::memset(whole, kind == 0 ? 0xFF : 0, kRoom);
    for (std::size_t i = 0; kind == 1 && i < size; ++i) {
      whole[begin + i] = static_cast<unsigned char>(random_.bits());
    }
    std::memset(whole + begin + size, kBehind, kRoom - begin - size);
    used_.push_back({whole, begin, size, {}});
    return whole + begin;
  }
  template <class T>
  T* thing() {
    return static_cast<T*>(bytes(sizeof(T)));
  }
  template <class T>
  T* things(int count) {
    const auto most = static_cast<int>(kRoom / sizeof(T));
    return static_cast<T*>(bytes(static_cast<std::size_t>(std::clamp(count, 0, most)) * sizeof(T)));
  }
  // What is in the rooms now is what the call is given.
  void given() {
    for (auto& each : used_) each.before.assign(each.whole, each.whole + kRoom);
  }

  // Null: all is well.
  const char* check(bool done) const {
    for (const auto& each : used_) {
      const auto same = [&](std::size_t from, std::size_t to) {
        return std::equal(each.whole + from, each.whole + to,
                          each.before.begin() + static_cast<std::ptrdiff_t>(from));
      };
      if (each.before.empty()) return "the program has not said what it gave";
      if (!same(0, each.begin)) return "has written in front of its room";
      if (!same(each.begin + each.size, kRoom)) return "has written behind its room";
      if (!done && !same(each.begin, each.begin + each.size)) return "has failed and written";
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kRooms = 4;
  static constexpr unsigned char kBehind = 0x5C;
  struct Used {
    unsigned char* whole = nullptr;
    std::size_t begin = 0, size = 0;
    std::vector<unsigned char> before;
  };

  Random random_;
  unsigned char* rooms_[kRooms] = {};
  std::vector<Used> used_;
};

}  // namespace npu::fuzz
