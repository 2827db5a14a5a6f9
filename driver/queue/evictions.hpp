// SPDX-License-Identifier: Apache-2.0
// Whether the card holds the queues of a process or lets them run: all of them while it is evicted,
// counted, else those that nothing else holds. Under the process' mutex.
#pragma once

#include "driver/queue/process_commands.hpp"
#include "driver/queue/queue_table.hpp"

namespace npu::driver {

class Evictions {
 public:
  Evictions(platform::Clock& clock, ProcessCommands& commands, const PooledId& pasid,
            QueueTable& queues)
      : clock_(clock), commands_(commands), pasid_(pasid), queues_(queues) {}

  // As ProcessContext has them.
  unsigned count() const { return count_; }
  Picoseconds time() const;
  Status evict(Instant deadline);
  Status restore(Instant deadline);

  // One of them is the driver's, for compaction.
  Status begin_compaction(Instant deadline);
  void end_compaction();

  bool is_active(const QueueRecord& record) const { return record.wants_to_run() && count_ == 0; }
  // It does not run, but only until compaction is over.
  bool is_interrupted(const QueueRecord& record) const {
    return compacting_ && count_ == 1 && record.wants_to_run();
  }
  // Makes the card hold the queue, or let it run, as it should be.
  Status apply(QueueRecord& record, Instant deadline, DeadlineOf whose = DeadlineOf::kDriver);

 private:
  Status resume_held(Instant deadline);

  platform::Clock& clock_;
  ProcessCommands& commands_;
  const PooledId& pasid_;
  QueueTable& queues_;
  unsigned count_ = 0;
  bool compacting_ = false;
  Instant since_;
  Picoseconds time_;  // of those that are over
};

}  // namespace npu::driver
