// SPDX-License-Identifier: Apache-2.0
// A platform that tells an observer of every access and hands it on, at no simulated cost. It knows
// which of its objects are still there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/testing/access_observer.hpp"
#include "machine/testing/tracked_objects.hpp"
#include "npu/testing/forwarding_platform.hpp"

namespace npu::testkit {

class ObservedPlatform : public ForwardingPlatform,
                         private platform::PciAccess,
                         private platform::Clock {
 public:
  // The name of what lies at an offset of a function's BAR.
  using BarName = std::function<std::string(platform::Bdf, unsigned bar, Bytes offset)>;

  // `poll_round`: what one look of a poll loop takes on `inner`.
  ObservedPlatform(platform::Platform& inner, AccessObserver& observer, BarName bar_name,
                   Picoseconds poll_round);
  ~ObservedPlatform() override { ledger_->tell(nullptr); }
  ObservedPlatform(const ObservedPlatform&) = delete;
  ObservedPlatform& operator=(const ObservedPlatform&) = delete;

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return *this; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override {
    auto made = tracked<TrackedMemory>(inner().allocate_dma(bdf, size, alignment, direction));
    if (made) observer_.memory_made(bdf, (*made)->cpu(), (*made)->bus());
    return made;
  }
  void copy(ByteSpan to, ConstByteSpan from) override;
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override {
    return inner().bind_pasid(TrackedMemory::inside(memory), pasid);
  }
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override {
    return tracked<TrackedAddresses>(inner().open_process_addresses(bdf));
  }
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override {
    auto pinned = inner().import_dma(bdf, memory, direction, pages);
    if (!pinned) return pinned;
    observer_.memory_made(bdf, memory, (*pinned)->bus());
    return std::make_unique<TrackedMemory>(std::move(*pinned), ledger_, "pin");
  }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override {
    auto shared = inner().share_dma(TrackedMemory::inside(memory), bdf);
    if (shared) observer_.memory_made(bdf, memory.cpu(), *shared);
    return shared;
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override {
    return tracked<TrackedVector>(inner().open_vector(bdf, vector));
  }
  void note_never_freed(std::string_view kind, std::uint64_t count, Bytes size) override {
    ledger_->note(kind, count, size);
  }
  void write_barrier() override;
  void read_barrier() override;

  // What is still there, and what a driver has told of.
  std::vector<Leak> leaks() const { return ledger_->left(); }

 private:
  class Region;

  // PciAccess
  std::vector<platform::HostBridge> host_bridges() const override {
    return inner().pci().host_bridges();
  }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;
  // Clock
  Instant now() override { return inner().clock().now(); }
  void relax(ConstByteSpan watched, Instant deadline) override;
  void sleep_until(Instant deadline) override { inner().clock().sleep_until(deadline); }

  // Makes an access with the observer told before and after; `make` gives the value read.
  template <class Make>
  std::uint64_t observe(Access access, Make make);

  template <class Tracked, class Object>
  Result<std::unique_ptr<Object>> tracked(Result<std::unique_ptr<Object>> made) {
    if (!made) return made;
    return std::make_unique<Tracked>(std::move(*made), ledger_);
  }

  AccessObserver& observer_;
  BarName bar_name_;
  Picoseconds poll_round_;
  std::shared_ptr<ObjectLedger> ledger_ = std::make_shared<ObjectLedger>();
};

}  // namespace npu::testkit
