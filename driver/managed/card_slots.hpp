// SPDX-License-Identifier: Apache-2.0
// The card's memory for managed pages: one slot for each page of memory. Not locked.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/managed/local_address.hpp"
#include "driver/memory/memory_manager.hpp"

namespace npu::driver {

class CardPages;

struct CardSlot {
  MemoryHandle memory;
  LocalAddress address;
  CardPages* pages = nullptr;  // whose page it holds; null: none
  std::uint64_t at = 0;        // that page, device virtual
  bool swapped = false;        // the pager has taken the page back by itself
  bool given = false;          // the pager has it, and it holds nothing
  bool asked = false;          // the pager is to give the page back, and has not answered
  bool taken = false;          // it has, when nobody waited for the answer any more
  bool dirty = false;          // what the pager has said of it meanwhile
  Instant pinned_until{};
  std::uint64_t filled = 0;  // how many were before; in order of time
};

class CardSlots {
 public:
  // At most `limit` pages of memory.
  CardSlots(platform::Clock& clock, MemoryManager& memory, std::uint32_t limit)
      : clock_(clock), memory_(memory), limit_(limit) {}

  // A page of memory that stays where it is. kOutOfMemory: the limit, or the card's.
  Result<std::uint32_t> create();
  // The page's memory is free; soon, if somebody has the card's memory for long.
  void destroy(std::uint32_t slot);
  // All of them, whatever they hold.
  void destroy_all();
  // It holds a page now, or nothing.
  void fill(std::uint32_t slot, CardPages& pages, std::uint64_t at);
  void empty(std::uint32_t slot);
  // It was wanted again.
  void renew(std::uint32_t slot);
  // It stays until then, if others can go.
  void pin(std::uint32_t slot, Instant until) { slots_[slot].pinned_until = until; }
  // Which was filled or renewed first, of those that are not pinned if there are any;
  // abi::kNoSlot: none is filled.
  std::uint32_t oldest(Instant now) const { return oldest(now, nullptr); }
  // The same of those that hold a page of `pages`; null: whoever's.
  std::uint32_t oldest(Instant now, const CardPages* pages) const;
  CardSlot& operator[](std::uint32_t slot) { return slots_[slot]; }
  Instant now() const { return clock_.now(); }
  std::uint32_t limit() const { return limit_; }
  std::uint32_t count() const { return count_; }

 private:
  void release(std::uint32_t slot);

  platform::Clock& clock_;
  MemoryManager& memory_;
  const std::uint32_t limit_;
  std::vector<CardSlot> slots_;
  std::vector<std::uint32_t> unused_;  // numbers
  std::vector<std::uint32_t> spare_;   // slots whose memory could not be given back yet
  std::uint32_t count_ = 0;
  std::uint64_t fills_ = 0;
  std::map<std::uint64_t, std::uint32_t> by_age_;  // that hold a page, by CardSlot::filled
};

}  // namespace npu::driver
