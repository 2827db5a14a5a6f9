// SPDX-License-Identifier: Apache-2.0
// The card's registers of shares (abi/share_registers.hpp): one command after another. Not locked.
#pragma once

#include "driver/link/card_link.hpp"
#include "npu/abi/share_registers.hpp"
#include "npu/driver/virtual_functions.hpp"

namespace npu::driver {

// Names, numbers and places of a share.
struct ShareRecord {
  std::string name;
  CardShare share;
  std::uint32_t first_core = 0, first_aicpu = 0;
  Bytes memory_base = 0;
  std::optional<GroupShare> group;
  FunctionWeights weights;

  bool present() const { return share.ai_cores != 0; }
};

class SharePort {
 public:
  SharePort(CardLink& link, Picoseconds timeout) : link_(link), timeout_(timeout) {}

  Result<abi::ShareCapability> capability() { return link_.read<abi::ShareCapability>(); }
  // `operation` is one of those that read.
  Result<ShareRecord> read(abi::ShareOperation operation, std::uint32_t index);
  // kOutOfRange, kAlreadyExists, kOutOfResources, kOutOfMemory, kInvalidArgument, kBusy.
  // Until the card is at no command. kTimeout.
  Status wait_until_idle();
  Status create(std::uint32_t index, const ShareRecord& record);
  // kOutOfRange, kNotFound, kBusy.
  Status destroy(std::uint32_t index);

 private:
  Status run(abi::ShareOperation operation, std::uint32_t index);
  Result<ShareRecord> collect();

  CardLink& link_;
  const Picoseconds timeout_;
};

}  // namespace npu::driver
