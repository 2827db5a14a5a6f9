// SPDX-License-Identifier: Apache-2.0
// A set and a list of lanes of a channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace npu::model::hbm {

class LaneSet {
 public:
  void add(int lane) { word(lane) |= bit(lane); }
  void remove(int lane) { word(lane) &= ~bit(lane); }
  bool has(int lane) const { return (words_[static_cast<unsigned>(lane) / 64] & bit(lane)) != 0; }
  bool empty() const { return (words_[0] | words_[1]) == 0; }
  // In ascending order, those that were there at the call.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (int i = 0; i < 2; ++i) {
      for (std::uint64_t rest = words_[static_cast<std::size_t>(i)]; rest != 0; rest &= rest - 1) {
        visit(64 * i + __builtin_ctzll(rest));
      }
    }
  }

 private:
  std::uint64_t& word(int lane) { return words_[static_cast<unsigned>(lane) / 64]; }
  static std::uint64_t bit(int lane) {
    return std::uint64_t{1} << static_cast<unsigned>(lane) % 64;
  }

  std::array<std::uint64_t, 2> words_{};
};

// In the order in which they were added, each at most once.
class LaneList {
 public:
  static constexpr int kEnd = 128;

  LaneList() { next_[kEnd] = previous_[kEnd] = kEnd; }
  void add(int lane) {
    link(previous_[kEnd], lane);
    link(lane, kEnd);
  }
  void remove(int lane) { link(previous_[index(lane)], next_[index(lane)]); }
  // kEnd behind the last one.
  int first() const { return next_[kEnd]; }
  int behind(int lane) const { return next_[index(lane)]; }

 private:
  static std::size_t index(int lane) { return static_cast<unsigned>(lane); }
  void link(int before, int after) {
    next_[index(before)] = static_cast<std::uint8_t>(after);
    previous_[index(after)] = static_cast<std::uint8_t>(before);
  }

  std::array<std::uint8_t, kEnd + 1> next_{};
  std::array<std::uint8_t, kEnd + 1> previous_{};
};

}  // namespace npu::model::hbm
