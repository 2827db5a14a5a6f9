// SPDX-License-Identifier: Apache-2.0
// At which clocks a bus is taken: a bit for each clock, from one on that only moves forward.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class ClockCalendar {
 public:
  static constexpr Clock kClocks = 2048;  // that are kept; all later ones are free

  struct Free {
    Clock from;
    Clock clocks;  // at least one; as many as were wanted, if there are
  };
  // The first clocks from `at` on that are free in both, of `wanted` in a row as many as there are.
  static Free find(const ClockCalendar& a, const ClockCalendar& b, Clock at, Clock wanted) {
    const Clock end = std::min(a.first_, b.first_) + kWords;  // of the words that both keep
    const auto word = [&](Clock number) {
      return number < end ? a.word(number) | b.word(number) : 0;
    };
    std::uint64_t taken = word(at >> 6) >> (at & 63);
    if ((taken & 1) != 0) {
      // Behind the last bit of its word zeros have been moved in.
      Clock next = at + ones(taken);
      while ((at >> 6) != (next >> 6)) {
        at = next & ~Clock{63};
        taken = word(at >> 6);
        next = at + ones(taken);
      }
      taken >>= next - at;
      at = next;
    }
    Clock clocks = 0;
    for (Clock from = at;;) {
      const Clock here = 64 - (from & 63);
      const Clock zeros = taken == 0 ? here : std::min<Clock>(here, __builtin_ctzll(taken));
      clocks += zeros;
      if (zeros < here || clocks >= wanted) return {at, std::min(clocks, wanted)};
      from += here;
      taken = word(from >> 6);
    }
  }
  // Takes the clocks [from, end); those that are not kept do not matter.
  void take(Clock from, Clock end) {
    from = std::max(from, first_ << 6);
    end = std::min(end, (first_ + kWords) << 6);
    if (from >= end) return;
    end_ = std::max(end_, end);
    const Clock last = (end - 1) >> 6;
    std::uint64_t mask = ~std::uint64_t{0} << (from & 63);
    for (Clock number = from >> 6; number < last; ++number, mask = ~std::uint64_t{0}) {
      word(number) |= mask;
    }
    word(last) |= mask & (~std::uint64_t{0} >> (-end & 63));
  }
  // Nobody asks for clocks before `at` any more.
  void forget_before(Clock at) {
    if ((at >> 6) != first_) forget(at);
  }

 private:
  static constexpr Clock kWords = kClocks / 64;
  static Clock ones(std::uint64_t taken) {
    return taken == ~std::uint64_t{0} ? 64 : __builtin_ctzll(~taken);
  }
  const std::uint64_t& word(Clock number) const {
    return words_[static_cast<std::size_t>(number) & (kWords - 1)];
  }
  std::uint64_t& word(Clock number) {
    return words_[static_cast<std::size_t>(number) & (kWords - 1)];
  }
  void forget(Clock at) {
    // Up to the last one that is taken, if any is.
    const Clock to = std::min(at, end_ + 63) >> 6;
    for (; first_ < to; ++first_) word(first_) = 0;
    first_ = at >> 6;
  }

  std::array<std::uint64_t, kWords> words_{};
  Clock first_ = 0;  // the first word that is kept
  Clock end_ = 0;    // no clock from here on is taken
};

}  // namespace npu::model::hbm
