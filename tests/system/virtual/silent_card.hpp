// SPDX-License-Identifier: Apache-2.0
// A machine whose card does not answer commands about virtual devices for a while: it has heard
// them, or not.
#pragma once

#include <deque>
#include <memory>

#include "npu/abi/partition_registers.hpp"
#include "npu/testing/forwarding_platform.hpp"

namespace npu::test {

struct Silence {
  abi::PartitionOperation operation = abi::PartitionOperation::kCreate;  // the next such command
  bool heard = true;  // the card does it, and does not say so
  Picoseconds lasts;
};

class SilentCard : public testkit::ForwardingPlatform {
 public:
  explicit SilentCard(platform::Platform& host) : ForwardingPlatform(host) {}

  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override {
    auto region = inner().map_bar(bdf, bar, offset, size, caching);
    if (!region || bar != abi::kRegisterBar || offset != 0) return region;
    return std::make_unique<Registers>(std::move(*region), *this);
  }

  std::deque<Silence> silences;  // in their order

 private:
  class Registers : public platform::MmioRegion {
   public:
    Registers(std::unique_ptr<MmioRegion> inner, SilentCard& card)
        : inner_(std::move(inner)), card_(card) {}
    Bytes size() const override { return inner_->size(); }
    std::uint32_t read32(Bytes offset) override {
      const auto value = inner_->read32(offset);
      const bool silent = card_.inner().clock().now() < card_.until_;
      if (offset != abi::PartitionStatusRegister::kOffset || !silent) return value;
      return abi::PartitionStatusRegister{}.set<abi::PartitionStatusRegister::Busy>(1).raw;
    }
    std::uint64_t read64(Bytes offset) override { return inner_->read64(offset); }
    void write32(Bytes offset, std::uint32_t value) override {
      if (offset != abi::PartitionCommand::kOffset || card_.hears(value)) {
        inner_->write32(offset, value);
      }
    }
    void write64(Bytes offset, std::uint64_t value) override { inner_->write64(offset, value); }

   private:
    std::unique_ptr<MmioRegion> inner_;
    SilentCard& card_;
  };

  bool hears(std::uint32_t command) {
    const auto operation =
        abi::PartitionCommand::from_raw(command).get<abi::PartitionCommand::Operation>();
    if (silences.empty() || operation != static_cast<std::uint32_t>(silences.front().operation)) {
      return true;
    }
    const auto now = silences.front();
    silences.pop_front();
    until_ = inner().clock().now() + now.lasts;
    return now.heard;
  }

  Instant until_;
};

}  // namespace npu::test
