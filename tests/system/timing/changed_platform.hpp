// SPDX-License-Identifier: Apache-2.0
// The platform as a driver with one change would use it: more accesses around a DMA doorbell.
#pragma once

#include <memory>

#include "npu/abi/registers.hpp"
#include "npu/platform/platform.hpp"

namespace npu::test {

enum class Change {
  kNone,
  kReadBeforeDoorbell,
  kReadAfterDoorbell,
  kTwoReadsBeforeDoorbell,
  kDoorbellTwice,
  kBarriers,
  kBarrierAfterDoorbell,
  kReadBarrier,
  kPollBeforeDoorbell,
  kPollAfterDoorbell,
  kNoBarriers,  // testkit::WithoutBarriers
};

// The registers as a driver with the change would use them.
class ChangedRegisters : public platform::MmioRegion {
 public:
  ChangedRegisters(std::unique_ptr<MmioRegion> inner, platform::Platform& host, Change change)
      : inner_(std::move(inner)), host_(host), change_(change) {}
  Bytes size() const override { return inner_->size(); }
  std::uint32_t read32(Bytes offset) override { return inner_->read32(offset); }
  std::uint64_t read64(Bytes offset) override { return inner_->read64(offset); }
  void write64(Bytes offset, std::uint64_t value) override { inner_->write64(offset, value); }
  void write32(Bytes offset, std::uint32_t value) override {
    if (offset != abi::DmaDoorbell::kOffset) return inner_->write32(offset, value);
    if (change_ == Change::kReadBeforeDoorbell || change_ == Change::kTwoReadsBeforeDoorbell) {
      inner_->read32(abi::DmaQueueStatus::kOffset);
    }
    if (change_ == Change::kTwoReadsBeforeDoorbell) inner_->read32(abi::DmaQueueStatus::kOffset);
    if (change_ == Change::kBarriers) host_.write_barrier();
    if (change_ == Change::kReadBarrier) host_.read_barrier();
    if (change_ == Change::kPollBeforeDoorbell) poll_once();
    inner_->write32(offset, value);
    if (change_ == Change::kDoorbellTwice) inner_->write32(offset, value);
    if (change_ == Change::kBarriers || change_ == Change::kBarrierAfterDoorbell) {
      host_.write_barrier();
    }
    if (change_ == Change::kPollAfterDoorbell) poll_once();
    if (change_ == Change::kReadAfterDoorbell) inner_->read32(abi::DmaQueueStatus::kOffset);
  }

 private:
  void poll_once() { host_.clock().relax({}, Instant::never()); }

  std::unique_ptr<MmioRegion> inner_;
  platform::Platform& host_;
  Change change_;
};

class ChangedPlatform : public platform::Platform {
 public:
  ChangedPlatform(platform::Platform& host, Change change) : host_(host), change_(change) {}
  platform::PciAccess& pci() override { return host_.pci(); }
  platform::Clock& clock() override { return host_.clock(); }
  platform::Tasks& tasks() override { return host_.tasks(); }
  platform::Tracer& tracer() override { return host_.tracer(); }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override {
    auto region = host_.map_bar(bdf, bar, offset, size, caching);
    if (!region || bar != abi::kRegisterBar || offset != 0) return region;
    return std::make_unique<ChangedRegisters>(std::move(*region), host_, change_);
  }
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override {
    return host_.allocate_dma(bdf, size, alignment, direction);
  }
  void copy(ByteSpan to, ConstByteSpan from) override { host_.copy(to, from); }
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override {
    return host_.open_process_addresses(bdf);
  }
  Result<platform::BusAddress> peer_address(platform::Bdf bdf, platform::Bdf owner, unsigned bar,
                                            Bytes offset) override {
    return host_.peer_address(bdf, owner, bar, offset);
  }
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override {
    return host_.import_dma(bdf, memory, direction, pages);
  }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override {
    return host_.share_dma(memory, bdf);
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override {
    return host_.open_vector(bdf, vector);
  }
  Status reset_function(platform::Bdf bdf) override { return host_.reset_function(bdf); }
  void write_barrier() override { host_.write_barrier(); }
  void read_barrier() override { host_.read_barrier(); }

 private:
  platform::Platform& host_;
  Change change_;
};

}  // namespace npu::test
