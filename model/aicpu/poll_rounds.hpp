// SPDX-License-Identifier: Apache-2.0
// What a program does between two calls of poll_again(): if it only looks, and twice in the same
// way, the rounds that follow do so again until something they look at changes.
#pragma once

#include <cstdint>
#include <vector>

#include "model/core/agenda.hpp"

namespace npu::model {

struct PollLook {
  std::uint64_t place = 0;  // device address, or core << 32 | offset
  std::uint64_t value = 0;  // seen
  SimTime sampled = 0;      // since the round began
  SimTime ended = 0;        // the program goes on
  std::uint8_t bytes = 0;
  bool is_register = false;

  bool operator==(const PollLook& other) const {
    return place == other.place && value == other.value && sampled == other.sampled &&
           ended == other.ended && bytes == other.bytes && is_register == other.is_register;
  }
};

class PollRounds {
 public:
  void begin(SimTime now) {
    began_ = now;
    before_.swap(now_);
    length_before_ = length_;
    only_looks_before_ = only_looks_;
    now_.clear();
    only_looks_ = true;
  }
  // The round so far. True: a round of looks alone, the same as the one before.
  bool end(SimTime now) {
    length_ = now - began_;
    replayed_until_ = 0;
    return only_looks_ && only_looks_before_ && length_ == length_before_ && length_ != 0 &&
           now_ == before_;
  }
  SimTime length() const { return length_; }
  const std::vector<PollLook>& looks() const { return now_; }

  // `look` with times as they are.
  void saw(PollLook look) {
    look.sampled -= began_;
    look.ended -= began_;
    if (now_.size() < kMostLooks) {
      now_.push_back(look);
    } else {
      only_looks_ = false;
    }
  }
  // Something other than a look at what others change.
  void acted() { only_looks_ = false; }
  void forget() {
    now_.clear();
    before_.clear();
    only_looks_ = only_looks_before_ = false;
    replayed_until_ = 0;
  }

  // The round that begins now is that of before as far as what it samples before `until`. After
  // begin().
  void replay(SimTime until) { replayed_until_ = until; }
  bool replaying() const { return replayed_until_ != 0; }
  // What was seen then; null: it is sampled at `until` or later, and so is all that follows.
  const PollLook* replayed(bool is_register, std::uint64_t place, unsigned bytes) {
    if (now_.size() < before_.size()) {
      const PollLook& look = before_[now_.size()];
      const bool same =
          look.is_register == is_register && look.place == place && look.bytes == bytes;
      if (same && began_ + look.sampled < replayed_until_) return &look;
    }
    replayed_until_ = 0;
    return nullptr;
  }
  SimTime began() const { return began_; }

 private:
  static constexpr std::size_t kMostLooks = 512;

  std::vector<PollLook> now_, before_;
  SimTime began_ = 0, length_ = 0, length_before_ = 0;
  bool only_looks_ = false, only_looks_before_ = false;
  SimTime replayed_until_ = 0;
};

}  // namespace npu::model
