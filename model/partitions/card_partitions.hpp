// SPDX-License-Identifier: Apache-2.0
// Who has what of a card: the books of its virtual functions' partitions. No time and no effects.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/partitions/engine_deal.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/partition_registers.hpp"

namespace npu::model {

struct FunctionPartition {
  std::array<char, abi::kPartitionNameBytes> name{};
  unsigned first_cluster = 0, clusters = 0;  // 0: there is no partition
  unsigned first_aicpu = 0, aicpus = 0;
  Bytes memory_base = 0, memory = 0;
  MediaUnits media;
  unsigned group = abi::kNoPartitionGroup;
  bool vip = false;
  std::uint32_t token = 0, token_max = 0;
  std::uint32_t task_timeout_us = 0;
  std::uint8_t dma_weight = 1, hbm_weight = 1, link_weight = 1;

  bool present() const { return clusters != 0; }
  bool in_group() const { return group != abi::kNoPartitionGroup; }
};

class CardPartitions {
 public:
  // What a driver needs beyond the memory that it may allocate (abi/layout.hpp).
  static constexpr Bytes kReserved = abi::kReservedTableOffset + abi::kReservedTableSize;

  explicit CardPartitions(const ChipConfig& config);

  unsigned functions() const { return static_cast<unsigned>(partitions_.size()); }  // virtual ones
  const FunctionPartition& of(unsigned index) const { return partitions_[index]; }
  // All of the card, while it is divided.
  FunctionPartition totals() const;
  FunctionPartition of_template(unsigned number) const;
  // kSuccess: function `index` has it now.
  abi::PartitionStatus create(unsigned index, const FunctionPartition& partition);
  abi::PartitionStatus check(unsigned index, const FunctionPartition& partition) const;
  void destroy(unsigned index) { partitions_[index] = {}; }
  bool divided() const;
  // What function 0 is left with, and what a virtual function has.
  Partition physical() const;
  Partition partition(unsigned index) const {
    auto part = partition(partitions_[index]);
    const auto range = engines()[1 + index];
    part.first_engine = range.first;
    part.dma_engines = range.count;
    return part;
  }
  Partition partition(const FunctionPartition& partition) const;

 private:
  // By function, function 0 first.
  std::vector<EngineRange> engines() const;
  bool cores_free(const FunctionPartition& partition) const;
  bool aicpus_free(const FunctionPartition& partition) const;
  bool memory_free(const FunctionPartition& partition) const;
  bool media_free(const MediaUnits& wanted) const;
  bool group_fits(const FunctionPartition& partition) const;

  const ChipConfig& config_;
  std::vector<FunctionPartition> partitions_;
};

}  // namespace npu::model
