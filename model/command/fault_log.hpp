// SPDX-License-Identifier: Apache-2.0
// A function's log of queue faults (abi::QueueFaultRecord), in host memory.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class FaultLog {
 public:
  explicit FaultLog(QueueFunction& function);

  // Fills in number and time; the record is posted, then `vector` raised.
  void record(abi::QueueFaultRecord record, unsigned vector, std::uint64_t cause);
  // Of a queue, which is faulted from now on unless it `continued`; `command` is null if no entry
  // is at fault.
  void queue_fault(HardwareQueue& queue, const CommandFault& fault, bool host,
                   const QueueCommand* command, bool continued = false);
  // For a doorbell that is nobody's.
  void stray(abi::QueueFaultRecord record);
  void reset() { count_ = 0; }

 private:
  QueueFunction& function_;
  CommandShared& shared_;
  std::uint64_t count_ = 0;
};

}  // namespace npu::model
