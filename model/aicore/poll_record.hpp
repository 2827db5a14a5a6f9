// SPDX-License-Identifier: Apache-2.0
// What a program looked at in one round of a poll loop, and the round before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/aicore/data_cache.hpp"
#include "model/core/agenda.hpp"

namespace npu::model {

struct Look {
  enum class Kind : std::uint8_t {
    kHit,   // load from the cache
    kMiss,  // load of a line from memory: sampled at its end
    kDrop,  // dcci of a line, not stored to
    kDropAll,
    kRegister,  // DATA_MAIN_BASE: sampled at its end
    kCounter,   // the system counter, which is different each time
  };
  Kind kind = Kind::kHit;
  std::uint8_t bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  SimTime begin = 0, end = 0;  // from the begin of the round
  DataCache::Bytes64 line{};   // of a miss

  bool sampled() const { return kind == Kind::kMiss || kind == Kind::kRegister; }
  bool same_access(const Look& other) const {
    return kind == other.kind && bytes == other.bytes && address == other.address;
  }
  bool operator==(const Look& other) const {
    return same_access(other) && value == other.value && begin == other.begin && end == other.end &&
           line == other.line;
  }
};

class PollRecord {
 public:
  static constexpr std::size_t kMost = 64;

  // poll_again() was called: a round has ended, another begins at `when`.
  void next_round(SimTime ended, SimTime when) {
    previous_.swap(current_);
    previous_length_ = open_ ? ended - begin_ : 0;
    previous_plain_ = open_ && plain_;
    current_.clear();
    begin_ = when;
    open_ = plain_ = true;
  }
  // Not in a poll loop any more.
  void close() { open_ = plain_ = previous_plain_ = false; }
  // Something else than looks.
  void spoil() { plain_ = false; }
  bool open() const { return open_ && plain_; }
  SimTime begin() const { return begin_; }
  void add(const Look& look) {
    // A round that reads the counter may do something else when it has gone on.
    if (look.kind == Look::Kind::kCounter || current_.size() == kMost) return spoil();
    current_.push_back(look);
  }
  // The round that ends at `now` was as the one before.
  bool repeats(SimTime now) const {
    return open_ && plain_ && previous_plain_ && now > begin_ && now - begin_ == previous_length_ &&
           current_ == previous_;
  }
  const std::vector<Look>& current() const { return current_; }
  // It waits for a line.
  bool misses() const {
    return std::any_of(current_.begin(), current_.end(),
                       [](const Look& look) { return look.kind == Look::Kind::kMiss; });
  }
  const std::vector<Look>& previous() const { return previous_; }

 private:
  std::vector<Look> current_, previous_;
  SimTime begin_ = 0, previous_length_ = 0;
  bool open_ = false, plain_ = false, previous_plain_ = false;
};

}  // namespace npu::model
