// SPDX-License-Identifier: Apache-2.0
// What the driver knows of a managed page, and of an allocation. A page is in one place: on the
// host or on one card; one of read mostly, once touched, on the host and on the cards that read it.
#pragma once

#include <memory>
#include <vector>

#include "driver/managed/host_frame.hpp"
#include "driver/managed/page_parts.hpp"
#include "driver/managed/page_thrash.hpp"
#include "npu/abi/pager.hpp"
#include "npu/driver/managed.hpp"

namespace npu::driver {

// What a card has of a page.
struct CardPage {
  bool mapped = false;    // the card may use it
  bool writable = false;  // and write it
  std::uint32_t slot = abi::kNoSlot;
  bool known = false;       // it has touched the page before
  bool dma_mapped = false;  // it has read the page from the host before
  std::uint8_t futile = 0;  // faults in a row that found all there, see CardPages::put_right()
  // Parts of 4 KiB that are on the card, the others still on the host; null: all.
  std::unique_ptr<PageParts> parts;

  Bytes bytes() const { return parts ? parts->count() << abi::kPartShift : abi::entry_span(0); }
  bool there() const { return slot != abi::kNoSlot; }
};

struct ManagedPage {
  bool host = false;     // is usable on the host
  bool same = false;     // the frame holds what the card's page held when it came
  bool evicted = false;  // before
  bool read_mostly = false;
  bool accessed_by_host = false;
  Access view = Access::kNone;  // what the process may do through its pointers
  bool host_mapped = false;     // the host has touched it since it was there last
  std::uint64_t accessed_by = 0;
  MemoryLocation preferred, last_prefetch;
  PageThrash thrash;
  std::shared_ptr<HostFrame> frame;  // other processes' pages may have it, too; see own_frame()
  std::vector<CardPage> cards;       // by their place in the managed memory

  // The first card that has it; the number of cards: none.
  unsigned holder() const {
    unsigned card = 0;
    while (card < cards.size() && !cards[card].there()) ++card;
    return card;
  }
  bool on_card() const { return holder() < cards.size(); }
  bool touched() const { return host || on_card(); }
};

struct ManagedRange {
  // By card: device-local addresses of its page tables.
  using Tables = std::vector<std::vector<std::uint64_t>>;

  Bytes size = 0;  // as asked for
  Tables tables;
  std::vector<ManagedPage> pages;
};

}  // namespace npu::driver
