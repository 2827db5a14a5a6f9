// SPDX-License-Identifier: Apache-2.0
// Some of the workers of a thread, or of its clusters, by their place in its list: asked for the
// next one and for how many they are without a look at the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace npu::firmware {

class WorkerSet {
 public:
  static constexpr unsigned kMost = 128;
  static constexpr unsigned kNone = kMost;

  bool has(unsigned place) const { return (words_[place / kBits] >> place % kBits & 1) != 0; }
  // It becomes a member, or is none any more.
  void flip(unsigned place) { words_[place / kBits] ^= std::uint64_t{1} << place % kBits; }
  void put(unsigned place, bool is_in) {
    if (has(place) != is_in) flip(place);
  }
  unsigned count() const {
    unsigned count = 0;
    for (const auto word : words_) count += static_cast<unsigned>(__builtin_popcountll(word));
    return count;
  }
  // The first one at `from` or behind; kNone: there is none.
  unsigned next(unsigned from) const {
    if (from >= kMost) return kNone;
    const std::uint64_t here = words_[from / kBits] >> from % kBits;
    if (here != 0) return from + static_cast<unsigned>(__builtin_ctzll(here));
    for (unsigned i = from / kBits + 1; i < words_.size(); ++i) {
      if (words_[i] != 0) return i * kBits + static_cast<unsigned>(__builtin_ctzll(words_[i]));
    }
    return kNone;
  }
  // Places whose `length` workers from there on are all members.
  WorkerSet runs_of(unsigned length) const {
    WorkerSet runs = *this;
    for (unsigned n = 1; n < length; ++n) {
      for (std::size_t i = 0; i < words_.size(); ++i) {
        const std::uint64_t behind = i + 1 < words_.size() ? words_[i + 1] << (kBits - n) : 0;
        runs.words_[i] &= words_[i] >> n | behind;
      }
    }
    return runs;
  }
  WorkerSet without(const WorkerSet& others) const {
    WorkerSet rest = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) rest.words_[i] &= ~others.words_[i];
    return rest;
  }
  WorkerSet both(const WorkerSet& other) const {
    WorkerSet common = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) common.words_[i] &= other.words_[i];
    return common;
  }

 private:
  static constexpr unsigned kBits = 64;

  std::array<std::uint64_t, kMost / kBits> words_{};
};

// One whose number of members is asked for again and again.
class CountedSet {
 public:
  unsigned count() const { return count_; }
  const WorkerSet& members() const { return members_; }
  void flip(unsigned place, bool is_in) {
    members_.flip(place);
    count_ += is_in ? 1U : ~0U;
  }
  void put(unsigned place, bool is_in) {
    if (members_.has(place) != is_in) flip(place, is_in);
  }

 private:
  WorkerSet members_;
  unsigned count_ = 0;
};

}  // namespace npu::firmware
