// SPDX-License-Identifier: Apache-2.0
// Taking queues of a process off the card: waiting until one is idle, removing it.
#pragma once

#include "driver/queue/process_queues.hpp"
#include "driver/queue/queue_manager.hpp"

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
  QueueRemoval(QueueManager& manager, ProcessQueues& queues)
      : manager_(manager), clock_(manager.link().clock()), queues_(queues) {}

  // Not under the mutex, which is taken for looks only: a queue that never ends holds up nobody
  // else's commands.
  Result<QueueEnd> drain(QueueRecord& record, const RemovalLimits& limits);
  // Under the mutex, as by_force(). kTimeout: the card has not said that it is gone.
  Status remove(QueueRecord& record, const RemovalLimits& limits, const Result<QueueEnd>& drained);
  // If the card does not answer, once more on an empty ring, by reset. If it still does not, id and
  // doorbell are lost; the memory is not: MMU and IOMMU keep the card from it.
  Status by_force(QueueRecord& record, abi::PreemptMode mode);

 private:
  Instant next_deadline(const RemovalLimits& limits) const;
  Result<ManagementAnswer> ask_to_remove(const QueueRecord& record, const RemovalLimits& limits,
                                         abi::PreemptMode mode);
  Status remove_in_time(QueueRecord& record, const RemovalLimits& limits,
                        const Result<QueueEnd>& drained);

  QueueManager& manager_;
  platform::Clock& clock_;
  ProcessQueues& queues_;
};

}  // namespace npu::driver
