// SPDX-License-Identifier: Apache-2.0
// The card's registers of partitions (abi/partition_registers.hpp): one command after another. Not
// locked.
#pragma once

#include "driver/link/card_link.hpp"
#include "npu/abi/partition_registers.hpp"
#include "npu/driver/virtual_functions.hpp"

namespace npu::driver {

// Names, numbers and places of a partition.
struct PartitionRecord {
  std::string name;
  CardPartition partition;
  std::uint32_t first_core = 0, first_aicpu = 0;
  Bytes memory_base = 0;
  std::optional<GroupPartition> group;
  FunctionWeights weights;

  bool present() const { return partition.ai_cores != 0; }
};

class PartitionPort {
 public:
  PartitionPort(CardLink& link, Picoseconds timeout) : link_(link), timeout_(timeout) {}

  Result<abi::PartitionCapability> capability() { return link_.read<abi::PartitionCapability>(); }
  // `operation` is one of those that read.
  Result<PartitionRecord> read(abi::PartitionOperation operation, std::uint32_t index);
  // kOutOfRange, kAlreadyExists, kOutOfResources, kOutOfMemory, kInvalidArgument, kBusy.
  // Until the card is at no command. kTimeout.
  Status wait_until_idle();
  Status create(std::uint32_t index, const PartitionRecord& record);
  // kOutOfRange, kNotFound, kBusy.
  Status destroy(std::uint32_t index);

 private:
  Status run(abi::PartitionOperation operation, std::uint32_t index);
  Result<PartitionRecord> collect();

  CardLink& link_;
  const Picoseconds timeout_;
};

}  // namespace npu::driver
