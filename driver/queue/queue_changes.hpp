// SPDX-License-Identifier: Apache-2.0
// Changing and asking queues of a process. The card holds a queue while its descriptor is written.
#pragma once

#include "driver/queue/process_queues.hpp"
#include "driver/queue/process_resources.hpp"

namespace npu::driver {

class QueueChanges {
 public:
  QueueChanges(QueueManager& manager, ProcessResources& process, ProcessQueues& queues)
      : manager_(manager), process_(process), queues_(queues) {}

  // Not under the mutex.
  Status update(QueueId id, const QueueChange& change);
  std::vector<QueueResult> set_suspended(const std::vector<QueueId>& ids, bool suspended,
                                         Instant deadline);
  // Under the mutex.
  Result<QueueStatus> query(QueueRecord& record);

 private:
  Status quiesce(QueueRecord& record);
  Status change_quiesced(QueueRecord& record, const QueueChange& change, QueueBuffer& ring);

  QueueManager& manager_;
  ProcessResources& process_;
  ProcessQueues& queues_;
};

}  // namespace npu::driver
