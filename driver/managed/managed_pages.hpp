// SPDX-License-Identifier: Apache-2.0
// The managed pages of one address space: where each is, and how it gets somewhere else. A page is
// in one place at a time. Not locked: who serves faults and who touches pages take turns.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "driver/managed/page_mover.hpp"
#include "driver/managed/service_trace.hpp"
#include "npu/driver/managed.hpp"

namespace npu::driver {

class ManagedPages {
 public:
  // `space` is of `device`; both outlive it.
  ManagedPages(Device::Impl& device, Space& space)
      : device_(device),
        space_(space),
        mover_(device),
        trace_(device.platform, device.card.device_index) {}

  Status open() { return mover_.open(); }
  Space& space() { return space_; }
  Result<std::uint64_t> allocate(Bytes size);
  // kInvalidArgument.
  Status free(std::uint64_t at);
  // All of them. `card_usable` false: without telling the card.
  Status free_all();

  // What the card wants of `address` is there now. kNotFound: it is no managed page.
  Status bring_to_card(std::uint64_t address);
  Status read(std::uint64_t at, ByteSpan to);
  Status write(std::uint64_t at, ConstByteSpan from);
  ServiceTrace& trace() { return trace_; }
  ManagedStatistics& statistics() { return statistics_; }

 private:
  enum class Place : std::uint8_t { kNowhere, kHost, kCard };
  struct Page {
    Place place = Place::kNowhere;
    std::unique_ptr<platform::DmaMemory> frame;  // kHost
    MemoryHandle memory;                         // kCard
  };
  struct Range {
    Bytes size = 0;  // as asked for
    std::vector<Page> pages;
  };
  using Ranges = std::map<std::uint64_t, Range>;

  Ranges::iterator range_of(std::uint64_t address);
  Status check(std::uint64_t at, Bytes size);
  Status bring_to_host(std::uint64_t at, Page& page);
  Status take_memory(Page& page, std::uint64_t& place);
  void give_memory(Page& page);
  Result<std::unique_ptr<platform::DmaMemory>> take_frame();
  Status release(std::uint64_t at, Page& page);
  template <class Copy>
  Status touch(std::uint64_t at, Bytes size, Copy copy);

  Device::Impl& device_;
  Space& space_;
  PageMover mover_;
  ServiceTrace trace_;
  Ranges ranges_;                                             // by address
  std::vector<std::unique_ptr<platform::DmaMemory>> frames_;  // that hold no page now
  ManagedStatistics statistics_;
};

}  // namespace npu::driver
