// SPDX-License-Identifier: Apache-2.0
// The end of queues of a process: by who has one, or with the device.
#pragma once

#include "driver/queue/process_faults.hpp"
#include "driver/queue/process_mapping.hpp"
#include "driver/queue/queue_removal.hpp"

namespace npu::driver {

class QueueEndings {
 public:
  QueueEndings(QueueManager& manager, ProcessQueues& queues, QueueRemoval& removal,
               ProcessMapping& mapping, ProcessFaults& faults)
      : manager_(manager), queues_(queues), removal_(removal), mapping_(mapping), faults_(faults) {}

  // As ProcessContext::destroy(). Not under the mutex.
  Result<QueueEnd> destroy(QueueChannel& channel, Instant deadline, bool forced);
  // All of them: the device is shut down. Not under the mutex.
  void give_up();

 private:
  // Null: it is suspended.
  Result<QueueRecord*> begin(const QueueChannel& channel, bool forced);
  Result<QueueRecord*> wait_to_begin(const QueueChannel& channel, Instant deadline,
                                     const RemovalLimits& limits, bool forced);
  Status finish(QueueRecord& record, const Result<QueueEnd>& drained, const RemovalLimits& limits,
                std::unique_ptr<QueueRecord>& taken);
  std::unique_ptr<QueueRecord> take_out(const QueueRecord& record, const RemovalLimits& limits);
  void forget_channel(const QueueChannel& channel);

  QueueManager& manager_;
  ProcessQueues& queues_;
  QueueRemoval& removal_;
  ProcessMapping& mapping_;
  ProcessFaults& faults_;
};

}  // namespace npu::driver
