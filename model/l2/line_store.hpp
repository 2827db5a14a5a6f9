// SPDX-License-Identifier: Apache-2.0
// Which lines an L2 holds: sets in order of use, no bytes. A line is a device-local address divided
// by the line size. Its slice is the XOR of its address bits in groups, its set is hashed alike, so
// that an aligned block of as many lines as there are slices lies in one set of each of them.
#pragma once

#include <cstdint>

#include "model/config/l2_config.hpp"
#include "model/core/zeroed_array.hpp"

namespace npu::model {

using Line = std::uint64_t;

class LineStore {
 public:
  // One line's entry; 0: empty.
  using Entry = std::uint32_t;
  static constexpr Entry kValid = 1, kDirty = 2, kFilling = 4;
  static constexpr Entry kPartial = 8;  // only some of its bytes are there: WrittenBytes has which

  explicit LineStore(const L2Config& config);

  // Where the lines of one block of slices() lines are.
  struct Block {
    std::uint64_t number;  // line / slices()
    std::uint64_t slices;  // XORed onto the line's low bits: its slice
    std::uint64_t sets;    // of the set in slice 0
    Entry key;             // tag and kValid
  };
  Block block_of(Line line) const;
  bool same_block(const Block& block, Line line) const {
    return line >> slice_bits_ == block.number;
  }
  unsigned slice_of(const Block& block, Line line) const {
    return static_cast<unsigned>((line ^ block.slices) & slice_mask_);
  }

  // A set, most recently used first; `ways` entries.
  Entry* set_of(const Block& block, unsigned slice) {
    return entries() + (block.sets + slice) * ways_;
  }
  // A line of this set will be looked up soon.
  static void prefetch(const Entry* set) { __builtin_prefetch(set, 1); }
  // The way that holds the block's line of this set; ways() if none.
  unsigned find(const Entry* set, const Block& block) const {
    unsigned way = 0;
    while (way < ways_ && (set[way] & ~(kDirty | kFilling | kPartial)) != block.key) ++way;
    return way;
  }
  // The way to be used for another line: the least recently used that is not being filled; ways()
  // if there is none.
  unsigned victim(const Entry* set) const;
  // The entry of `way` becomes the most recently used one and `value`.
  static void use(Entry* set, unsigned way, Entry value);
  // Forgets a line: its place is the next to be used.
  void drop(Entry* set, unsigned way) const;
  // Which line an entry of the set that `block` and `slice` give stands for.
  Line line_of(const Block& block, unsigned slice, Entry entry) const;
  // Drops [first, last], but not what is being filled.
  void clear(Line first, Line last);

  unsigned ways() const { return ways_; }
  unsigned slices() const { return static_cast<unsigned>(slice_mask_ + 1); }

 private:
  Entry* entries() { return memory_.data(); }

  const unsigned ways_;
  const unsigned slice_bits_;
  const std::uint64_t slice_mask_;
  unsigned set_bits_ = 0;
  std::uint64_t set_mask_ = 0;
  // Set by set, of a set slice by slice; a set of 16 ways is a line of the host's caches.
  ZeroedArray<Entry> memory_;
};

}  // namespace npu::model
