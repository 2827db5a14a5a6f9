// SPDX-License-Identifier: Apache-2.0
// The card's ring of page faults (abi/page_fault.hpp) in host memory, and replies.
#pragma once

#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "npu/abi/page_fault.hpp"

namespace npu::driver {

class FaultRing {
 public:
  static constexpr unsigned kLog2Records = 8;
  static constexpr std::uint32_t kRecords = 1U << kLog2Records;

  static Result<std::unique_ptr<FaultRing>> create(CardLink& link, unsigned vector);
  ~FaultRing();
  FaultRing(const FaultRing&) = delete;
  FaultRing& operator=(const FaultRing&) = delete;

  // Which spaces' faults wait: bit v of VMID v. kTimeout, kDeviceLost: the card does not take it.
  Status serve(std::uint32_t vmids);
  // At most `limit` records that have come, oldest first.
  std::vector<abi::PageFaultRecord> take(std::size_t limit);
  // The card has lost writes: it tells of the faults that wait again. False: it does not answer
  // now.
  bool look();
  // Tells the card what has been taken; an interrupt follows if there is more.
  void give_back();
  void retry(unsigned vmid, std::uint64_t page) { reply(vmid, page, false); }
  void refuse(unsigned vmid, std::uint64_t page) { reply(vmid, page, true); }

 private:
  FaultRing(CardLink& link, std::unique_ptr<platform::DmaMemory> memory)
      : link_(link), memory_(std::move(memory)) {}
  bool has_come() const;
  void reply(unsigned vmid, std::uint64_t page, bool abort);

  CardLink& link_;
  std::unique_ptr<platform::DmaMemory> memory_;
  std::uint32_t taken_ = 0;
};

}  // namespace npu::driver
