// SPDX-License-Identifier: Apache-2.0
// Changing and asking queues of a process. The card holds a queue while its descriptor is written.
#pragma once

#include "driver/queue/evictions.hpp"
#include "driver/queue/process_resources.hpp"
#include "driver/queue/resumptions.hpp"

namespace npu::driver {

class QueueChanges {
 public:
  // `mutex`: the process'.
  QueueChanges(Device::Impl& device, QueueManager& manager, platform::Mutex& mutex,
               ProcessResources& process, ProcessCommands& commands, QueueTable& queues,
               Evictions& evictions)
      : device_(device),
        manager_(manager),
        mutex_(mutex),
        process_(process),
        commands_(commands),
        queues_(queues),
        evictions_(evictions),
        resumptions_(device.platform.tasks()) {}

  // Not under the mutex.
  Status update(QueueId id, const QueueChange& change);
  std::vector<QueueResult> set_suspended(const std::vector<QueueId>& ids, bool suspended,
                                         Instant deadline);
  // Under the mutex.
  Result<QueueStatus> query(QueueRecord& record);

  // Of set_suspended(): for those who wait for a queue that is suspended.
  Resumptions& resumptions() { return resumptions_; }

 private:
  Status quiesce(QueueRecord& record);
  Status change_quiesced(QueueRecord& record, const QueueChange& change, QueueBuffer& ring);

  Device::Impl& device_;
  QueueManager& manager_;
  platform::Mutex& mutex_;
  ProcessResources& process_;
  ProcessCommands& commands_;
  QueueTable& queues_;
  Evictions& evictions_;
  Resumptions resumptions_;
};

}  // namespace npu::driver
