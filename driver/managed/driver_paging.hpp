// SPDX-License-Identifier: Apache-2.0
// Faults from the card's ring, served by the driver alone, which writes the page tables itself.
#pragma once

#include "driver/managed/card_paging.hpp"
#include "driver/managed/fault_ring.hpp"

namespace npu::driver {

class DriverPaging : public CardPaging {
 public:
  static Result<std::unique_ptr<CardPaging>> create(Device::Impl& device, unsigned vector,
                                                    std::uint32_t limit);

  void stop() override { ring_.reset(); }
  void serve(std::uint32_t vmids) override { ring_->serve(vmids); }
  bool serve_some(const ServedSpaces& spaces) override;
  Status map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) override;
  Result<bool> unmap(std::uint32_t slot, std::uint64_t entry) override;
  bool tells_writes() const override { return false; }
  void give(std::uint32_t slot) override { slots_.destroy(slot); }

 private:
  // Records of one turn (virtualisation.md S6).
  static constexpr std::size_t kBatch = 256;

  DriverPaging(Device::Impl& device, std::uint32_t limit)
      : CardPaging(device, limit), device_(device) {}
  void serve(const abi::PageFaultRecord& record, ManagedPages& pages);
  Status bring(const abi::PageFaultRecord& record, ManagedPages& pages);

  Device::Impl& device_;
  std::unique_ptr<FaultRing> ring_;
};

}  // namespace npu::driver
