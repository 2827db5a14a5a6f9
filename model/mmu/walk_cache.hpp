// SPDX-License-Identifier: Apache-2.0
// The walker's memory of entries that point to tables, context entries included: fully
// associative, least recently used out first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/mmu/tagged_address.hpp"

namespace npu::model {

// The level of a context entry, which points to the table of the level below as others do.
inline constexpr unsigned kContextLevel = abi::kTableLevels;

class WalkCache {
 public:
  explicit WalkCache(unsigned entries) : entries_(entries) {}

  struct Hit {
    unsigned level;       // of the table
    std::uint64_t table;  // its address
  };
  // The lowest table known on the way to `address`.
  std::optional<Hit> lookup(TaggedAddress address);
  // The entry of `level` (1 .. kContextLevel) on the way to `address` points to `table`.
  void insert(TaggedAddress address, unsigned level, std::uint64_t table);
  void drop(const TaggedRange& range);

 private:
  struct Entry {
    std::uint64_t tag = 0;  // tagged address >> shift(level)
    std::uint64_t table = 0;
    std::uint64_t used = 0;
    unsigned level = 0;  // 0: empty
  };
  static constexpr unsigned shift(unsigned level) { return abi::kPageShift + 9 * level; }

  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace npu::model
