// SPDX-License-Identifier: Apache-2.0
// The managed pages of one address space: where each is, and how it gets somewhere else. A page is
// used in one place at a time. Not locked: who serves faults and who touches pages take turns.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "driver/managed/card_paging.hpp"
#include "driver/managed/page_mover.hpp"
#include "driver/managed/service_trace.hpp"
#include "npu/abi/pager.hpp"
#include "npu/driver/managed.hpp"

namespace npu::driver {

class ManagedPages {
 public:
  // What makes a page usable that has been brought to the card.
  struct Brought {
    bool was_there = false;  // nothing is to be done
    std::uint64_t entry = 0;
    abi::PageTableEntry value;
  };

  // `space` is of `device`; all outlive it.
  ManagedPages(Device::Impl& device, Space& space, CardPaging& paging)
      : device_(device),
        space_(space),
        paging_(paging),
        mover_(device),
        trace_(device.platform, device.card.device_index) {}

  Status open() { return mover_.open(); }
  Space& space() { return space_; }
  Result<std::uint64_t> allocate(Bytes size);
  // kInvalidArgument.
  Status free(std::uint64_t at);
  // All of them.
  Status free_all();

  // The bytes of the page are in the slot, which is its from now on. kNotFound: it is no managed
  // page.
  Result<Brought> bring(std::uint64_t address, bool write, std::uint32_t slot);
  // Nobody on the card uses the page of the slot any more: it is the host's, and the slot empty.
  Status leave(std::uint32_t slot, bool dirty);
  // It could not: the card may use it again.
  Status keep(std::uint32_t slot);
  // It had to leave for want of memory.
  void note_eviction(std::uint64_t at);
  // leave() of one that is still in use, for want of memory.
  Status evict(std::uint32_t slot);
  Status read(std::uint64_t at, ByteSpan to);
  Status write(std::uint64_t at, ConstByteSpan from);
  ServiceTrace& trace() { return trace_; }
  ManagedStatistics& statistics() { return statistics_; }

 private:
  struct Page {
    bool host = false;  // is usable on the host
    bool same = false;  // the frame holds what the card's page held when it came
    bool mapped = false;
    bool evicted = false;  // before
    std::uint32_t slot = abi::kNoSlot;  // on the card
    std::unique_ptr<platform::DmaMemory> frame;
  };
  struct Range {
    Bytes size = 0;                     // as asked for
    std::vector<std::uint64_t> tables;  // device-local addresses of its page tables
    std::vector<Page> pages;
  };
  using Ranges = std::map<std::uint64_t, Range>;

  Ranges::iterator range_of(std::uint64_t address);
  Page& page_of(std::uint64_t at);
  std::uint64_t entry_of(const Ranges::value_type& range, std::uint64_t at) const;
  std::uint64_t entry_of(std::uint64_t at);
  Status check(std::uint64_t at, Bytes size);
  Status bring_to_host(std::uint64_t at, Page& page);
  Result<std::unique_ptr<platform::DmaMemory>> take_frame();
  Status copy_to_card(const Page& page, std::uint32_t slot);
  Status copy_to_host(Page& page, std::uint32_t slot);
  Status release(std::uint64_t at, Page& page);
  template <class Copy>
  Status touch(std::uint64_t at, Bytes size, Copy copy);

  Device::Impl& device_;
  Space& space_;
  CardPaging& paging_;
  PageMover mover_;
  ServiceTrace trace_;
  Ranges ranges_;                                             // by address
  std::vector<std::unique_ptr<platform::DmaMemory>> frames_;  // that hold no page now
  ManagedStatistics statistics_;
};

}  // namespace npu::driver
