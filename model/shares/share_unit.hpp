// SPDX-License-Identifier: Apache-2.0
// The registers by which the physical function's driver divides the card (abi/share_registers.hpp).
#pragma once

#include "model/core/simulation.hpp"
#include "model/registers/card_registers.hpp"
#include "model/shares/card_shares.hpp"

namespace npu::model {

// The card, as far as its division goes.
class ShareTarget {
 public:
  virtual ~ShareTarget() = default;
  // Nothing runs on its AI Cores, or on its AICPUs.
  virtual bool cores_idle(const Partition& share) const = 0;
  virtual bool aicpus_idle(const Partition& share) const = 0;
  // A driver has the virtual function open.
  virtual bool in_use(unsigned index) const = 0;
  // Stops all that is done for the virtual function and overwrites its memory with zeros.
  virtual void stop_and_scrub(unsigned index, const Partition& had) = 0;
  // What it has, and so what function 0 has, is another.
  virtual void shares_changed(unsigned index) = 0;
};

class ShareUnit {
 public:
  // Installs itself behind the registers of function 0. References outlive it.
  ShareUnit(CardRegisters& registers, Simulation& simulation, const ChipConfig& config,
            ShareTarget& target);
  ShareUnit(const ShareUnit&) = delete;
  ShareUnit& operator=(const ShareUnit&) = delete;

  const CardShares& shares() const { return shares_; }
  // Of scrubbing what the virtual function has.
  Picoseconds scrub_time(Bytes memory) const;
  // Function 0 is reset: there are no shares any more.
  void reset();

 private:
  void command_written(abi::ShareCommand command);
  void begin(abi::ShareCommand command);
  void end(std::uint64_t generation);
  abi::ShareStatus check_destroy(unsigned index) const;
  abi::ShareStatus check_create(unsigned index, const FunctionShare& share) const;
  void finish(abi::ShareStatus status);
  void drop(unsigned index);
  FunctionShare staged() const;
  void show(const FunctionShare& share);

  CardRegisters& registers_;
  RegisterBank& bank_;
  Simulation& sim_;
  const ChipConfig& config_;
  ShareTarget& target_;
  CardShares shares_;
  bool busy_ = false;
  abi::ShareCommand command_;  // in flight
  FunctionShare wanted_;       // of kCreate
  std::uint32_t generation_ = 0;
};

}  // namespace npu::model
