// SPDX-License-Identifier: Apache-2.0
// The managed pages of one address space: where each is, and how it gets somewhere else. A page is
// used in one place at a time; one of read mostly may be read in both. Not locked: who serves
// faults and who touches pages take turns.
#pragma once

#include <memory>
#include <vector>

#include "driver/managed/card_paging.hpp"
#include "driver/managed/fault_error_watch.hpp"
#include "driver/managed/managed_ranges.hpp"
#include "driver/managed/page_mover.hpp"
#include "driver/managed/service_trace.hpp"

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
  ManagedPages(Device::Impl& device, Space& space, CardPaging& paging,
               const ManagedOptions& options)
      : device_(device),
        space_(space),
        paging_(paging),
        on_fault_errors_(options.on_fault_errors),
        error_watch_(options.error_threshold, options.error_window),
        mover_(device),
        trace_(device.platform, device.card.device_index) {}

  Status open() { return mover_.open(); }
  Space& space() { return space_; }
  Device::Impl& device() { return device_; }
  Result<std::uint64_t> allocate(Bytes size);
  // kInvalidArgument.
  Status free(std::uint64_t at);
  // All of them.
  Status free_all();

  // kOutOfRange: the bytes are not all in one allocation.
  Status check(std::uint64_t at, Bytes size) const { return ranges_.check(at, size); }
  // nullptr: `address` is in no managed page.
  ManagedPage* find(std::uint64_t address) { return ranges_.find(address); }

  // The bytes of the page are in the slot, which is its from now on. kNotFound: it is no managed
  // page.
  Result<Brought> bring(std::uint64_t address, bool write, std::uint32_t slot);
  // The same of a managed page's parts, and with those that `density` adds (page_parts.hpp); the
  // page is mapped. `slot` is looked at if it is not on the card.
  Status bring_parts(std::uint64_t at, const PageParts& touched, bool write, std::uint32_t slot,
                     unsigned density);
  // All parts of a page that is on the card.
  Status complete(std::uint64_t at);
  // Nobody on the card uses the page of the slot any more: it is the host's, and the slot empty.
  Status leave(std::uint32_t slot, bool dirty);
  // It could not: the card may use it again.
  Status keep(std::uint32_t slot);
  // It had to leave for want of memory.
  void note_eviction(std::uint64_t at);
  // leave() of one that is still in use, for want of memory.
  Status evict(std::uint32_t slot);

  // Whole pages that are on the host alone; all at once, or as many as there is memory for at a
  // time. How many those are; kOutOfMemory: none.
  Result<std::uint64_t> bring_run(std::uint64_t first, std::uint64_t count);
  // Whole pages that are on the card; all at once.
  Status fetch_run(std::uint64_t first, std::uint64_t count);
  // A page that nobody has touched is made on the card.
  Status create_on_card(std::uint64_t at);
  // The page is the host's; if it is to write it, the host's alone.
  Status bring_to_host(std::uint64_t at, bool write);
  Status read(std::uint64_t at, ByteSpan to);
  Status write(std::uint64_t at, ConstByteSpan from);
  // Whoever is to be called because of fault errors, and with what; nothing: nobody.
  std::function<void()> look_for_errors(Instant now);
  bool counts_errors() const { return error_watch_.counts(); }
  ServiceTrace& trace() { return trace_; }
  ManagedStatistics& statistics() { return statistics_; }

 private:
  ManagedPage& page_of(std::uint64_t at) { return *find(at); }
  abi::PageTableEntry value_of(const ManagedPage& page) const;
  Status hold_copy(ManagedPage& page);
  Status take_exclusive(std::uint64_t at, ManagedPage& page);
  void settle(std::uint64_t at, ManagedPage& page, std::uint32_t slot, bool write);
  Status publish(std::uint64_t at, ManagedPage& page);
  Status fetch_parts(ManagedPage& page, const PageParts& missing);
  Status copy_home(const ManagedPage& page);
  Result<bool> unmap(std::uint64_t at, ManagedPage& page);
  Status leave_in_run(std::uint64_t first, std::uint64_t count, const std::vector<bool>& dirty);
  void leave_slot(ManagedPage& page);
  Status give_frame(ManagedPage& page);
  Status release(std::uint64_t at, ManagedPage& page);
  template <class Copy>
  Status touch(std::uint64_t at, Bytes size, bool write, Copy copy);

  Device::Impl& device_;
  Space& space_;
  CardPaging& paging_;
  const std::function<void(const FaultErrorWarning&)> on_fault_errors_;
  FaultErrorWatch error_watch_;
  PageMover mover_;
  ServiceTrace trace_;
  ManagedRanges ranges_;
  std::vector<std::unique_ptr<platform::DmaMemory>> frames_;  // that hold no page now
  ManagedStatistics statistics_;
};

}  // namespace npu::driver
