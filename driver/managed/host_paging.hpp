// SPDX-License-Identifier: Apache-2.0
// Managed pages that stay on the host, where the card uses them (ATS, PRI): a space's addresses are
// those of a process, whose pages are mapped as the host has them. The card has no page, so no page
// has a slot. The driver answers the card's page requests.
#pragma once

#include "driver/managed/card_paging.hpp"

namespace npu::driver {

class HostPaging : public CardPaging {
 public:
  // kUnsupported: the card or the platform cannot.
  static Result<std::unique_ptr<HostPaging>> create(CardLink& link, MemoryManager& memory);
  ~HostPaging() override { stop(); }

  platform::InterruptVector& arrivals() { return processes_->arrivals(); }

  Status serve(std::uint32_t vmids) override;
  bool serve_some(const ServedSpaces& spaces) override;
  bool in_place() const override { return true; }
  Result<std::shared_ptr<HostFrame>> new_frame(ByteSpan own) override;
  Status expose(unsigned vmid, std::uint64_t at, const HostFrame& frame, bool write) override;
  Status hide(unsigned vmid, std::uint64_t at) override;

  Status map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) override;
  Result<bool> unmap(std::uint32_t slot, std::uint64_t entry) override;
  bool tells_writes() const override { return false; }
  void give(std::uint32_t slot) override { static_cast<void>(slot); }

 private:
  HostPaging(CardLink& link, MemoryManager& memory,
             std::unique_ptr<platform::ProcessAddresses> processes)
      : CardPaging(link, memory, 0), link_(link), processes_(std::move(processes)) {}
  void stop() override;
  // Not one of those that processes with queues have.
  static std::uint32_t pasid_of(unsigned vmid) { return kFirstPasid + vmid; }
  static constexpr std::uint32_t kFirstPasid = 0x8000;

  CardLink& link_;
  std::unique_ptr<platform::ProcessAddresses> processes_;
  std::uint32_t served_ = 0;  // VMIDs
};

}  // namespace npu::driver
