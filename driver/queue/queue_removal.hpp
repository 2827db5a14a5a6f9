// SPDX-License-Identifier: Apache-2.0
// Taking one queue off the card: waiting until it is idle, removing it.
#pragma once

#include "driver/queue/process_impl.hpp"

namespace npu::driver {

// The queue is waited for until `drain`, the card until `end`.
struct RemovalLimits {
  Instant drain, end = Instant::never();
  DeadlineOf whose = DeadlineOf::kDriver;

  // By a caller's deadline, or (`forced`) whatever time the driver's own commands take.
  static RemovalLimits of(Instant now, Instant deadline, bool forced);
};

class QueueRemoval {
 public:
  QueueRemoval(ProcessContext::Impl& process, QueueRecord& record, const RemovalLimits& limits)
      : process_(process), record_(record), limits_(limits) {}

  // Not under the process' mutex, which is taken for looks only: a queue that never ends holds up
  // nobody else's commands.
  Result<QueueEnd> drain();
  // Under the mutex, as by_force(). kTimeout: the card has not said that it is gone.
  Status remove(const Result<QueueEnd>& drained);
  // If the card does not answer, once more on an empty ring, by reset. If it still does not, id and
  // doorbell are lost; the memory is not: MMU and IOMMU keep the card from it.
  static Status by_force(ProcessContext::Impl& process, QueueRecord& record, abi::PreemptMode mode);

 private:
  bool is_interrupted() const;
  Result<ManagementAnswer> ask_to_remove(abi::PreemptMode mode);
  Status remove_in_time(const Result<QueueEnd>& drained);
  platform::Clock& clock() { return process_.device.platform.clock(); }
  Instant next_deadline() { return std::min(process_.command_deadline(), limits_.end); }

  ProcessContext::Impl& process_;
  QueueRecord& record_;
  const RemovalLimits limits_;
};

}  // namespace npu::driver
