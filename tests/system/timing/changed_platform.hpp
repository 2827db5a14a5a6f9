// SPDX-License-Identifier: Apache-2.0
// The platform as a driver with one change would use it: more accesses around a DMA doorbell.
#pragma once

#include <memory>

#include "npu/abi/registers.hpp"
#include "npu/testing/forwarding_platform.hpp"

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

class ChangedPlatform : public testkit::ForwardingPlatform {
 public:
  ChangedPlatform(platform::Platform& host, Change change)
      : ForwardingPlatform(host), change_(change) {}
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override {
    auto region = inner().map_bar(bdf, bar, offset, size, caching);
    if (!region || bar != abi::kRegisterBar || offset != 0) return region;
    return std::make_unique<ChangedRegisters>(std::move(*region), inner(), change_);
  }

 private:
  Change change_;
};

}  // namespace npu::test
