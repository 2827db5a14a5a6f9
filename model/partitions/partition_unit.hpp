// SPDX-License-Identifier: Apache-2.0
// The registers by which the physical function's driver divides the card
// (abi/partition_registers.hpp).
#pragma once

#include "model/core/simulation.hpp"
#include "model/partitions/card_partitions.hpp"
#include "model/registers/card_registers.hpp"

namespace npu::model {

// The card, as far as its division goes.
class PartitionTarget {
 public:
  virtual ~PartitionTarget() = default;
  // Nothing runs on its AI Cores, or on its AICPUs.
  virtual bool cores_idle(const Partition& partition) const = 0;
  virtual bool aicpus_idle(const Partition& partition) const = 0;
  // A driver has the virtual function open.
  virtual bool in_use(unsigned index) const = 0;
  // Stops all that is done for the virtual function and overwrites its memory with zeros.
  virtual void stop_and_scrub(unsigned index, const Partition& had) = 0;
  // What it has, and so what function 0 has, is another.
  virtual void partitions_changed(unsigned index) = 0;
};

class PartitionUnit {
 public:
  // Installs itself behind the registers of function 0. References outlive it.
  PartitionUnit(CardRegisters& registers, Simulation& simulation, const ChipConfig& config,
                PartitionTarget& target);
  PartitionUnit(const PartitionUnit&) = delete;
  PartitionUnit& operator=(const PartitionUnit&) = delete;

  const CardPartitions& partitions() const { return partitions_; }
  // Of scrubbing what the virtual function has.
  Picoseconds scrub_time(Bytes memory) const;
  // Function 0 is reset: there are no partitions any more.
  void reset();

 private:
  void command_written(abi::PartitionCommand command);
  void begin(abi::PartitionCommand command);
  void end(std::uint64_t generation);
  abi::PartitionStatus check_destroy(unsigned index) const;
  abi::PartitionStatus check_create(unsigned index, const FunctionPartition& partition) const;
  void finish(abi::PartitionStatus status);
  void drop(unsigned index);
  FunctionPartition staged() const;
  void show(const FunctionPartition& partition);

  CardRegisters& registers_;
  RegisterBank& bank_;
  Simulation& sim_;
  const ChipConfig& config_;
  PartitionTarget& target_;
  CardPartitions partitions_;
  bool busy_ = false;
  abi::PartitionCommand command_;  // in flight
  FunctionPartition wanted_;       // of kCreate
  std::uint32_t generation_ = 0;
};

}  // namespace npu::model
