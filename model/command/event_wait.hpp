// SPDX-License-Identifier: Apache-2.0
// The event wait at the head of a slot's queue: reads its signal, and parks until the signal is
// told of or the time is over.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class EventWait {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The signal's value has come. False: the slot is being left.
    virtual bool keeps_waiting() = 0;
    virtual void wait_over(abi::FaultCode status) = 0;
    virtual void wait_failed(const CommandFault& fault, bool host) = 0;
  };

  EventWait(CommandShared& shared, Owner& owner) : shared_(shared), owner_(owner) {}

  // `command` waits, for a signal slot that its queue has, or for one in memory.
  void start(HardwareQueue& queue, const QueueCommand& command);
  // Its value was read and did not meet the condition.
  bool parked() const { return parked_; }
  bool reading() const { return reading_; }
  // Not at the head of this slot's queue any more.
  void forget() { parked_ = false; }
  void reset() { parked_ = reading_ = false; }

  // For the signal unit.
  void signal_value(std::uint64_t value);
  void read_signal();
  void expired();

 private:
  void signal_read(const Answer& answer, std::uint64_t seen);
  void end(abi::FaultCode status);
  void end_late();

  CommandShared& shared_;
  Owner& owner_;
  HardwareQueue* queue_ = nullptr;
  std::uint64_t cause_ = 0;  // of the entry
  bool parked_ = false, reading_ = false;
  bool known_ = false;  // a signal in memory is this card's
};

}  // namespace npu::model
