// SPDX-License-Identifier: Apache-2.0
// What the driver knows of a managed page, and of an allocation.
#pragma once

#include <memory>
#include <vector>

#include "driver/managed/page_parts.hpp"
#include "driver/managed/page_thrash.hpp"
#include "npu/abi/pager.hpp"
#include "npu/driver/managed.hpp"
#include "npu/platform/memory.hpp"

namespace npu::driver {

struct ManagedPage {
  bool host = false;      // is usable on the host
  bool same = false;      // the frame holds what the card's page held when it came
  bool mapped = false;    // the card may use it
  bool writable = false;  // and write it
  bool evicted = false;   // before
  bool read_mostly = false;
  bool accessed_by_host = false;
  std::uint32_t slot = abi::kNoSlot;  // on the card
  std::uint64_t accessed_by = 0;
  MemoryLocation preferred, last_prefetch;
  PageThrash thrash;
  std::unique_ptr<platform::DmaMemory> frame;

  // Parts of 4 KiB that are on the card, the others still on the host; null: all.
  std::unique_ptr<PageParts> parts;

  Bytes bytes_on_card() const {
    return parts ? parts->count() << abi::kPartShift : abi::entry_span(0);
  }
  bool on_card() const { return slot != abi::kNoSlot; }
  bool touched() const { return host || on_card(); }
};

struct ManagedRange {
  Bytes size = 0;                     // as asked for
  std::vector<std::uint64_t> tables;  // device-local addresses of its page tables
  std::vector<ManagedPage> pages;
};

}  // namespace npu::driver
