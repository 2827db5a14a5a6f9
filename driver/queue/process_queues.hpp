// SPDX-License-Identifier: Apache-2.0
// The queues of a process, whether the card runs them, and the mutex over both.
#pragma once

#include <atomic>
#include <memory>

#include "driver/queue/evictions.hpp"
#include "driver/queue/resumptions.hpp"
#include "driver/queue/time_slice_hook.hpp"

namespace npu::driver {

class ProcessQueues {
 public:
  // `pasid`: the process', once it has one.
  ProcessQueues(platform::Platform& platform, ProcessCommands& commands, const PooledId& pasid)
      : mutex_(platform.tasks().make_mutex()),
        commands_(commands),
        evictions_(platform.clock(), commands, pasid, table_),
        resumptions_(platform.tasks()) {}

  platform::Mutex& mutex() const { return *mutex_; }
  ProcessCommands& commands() { return commands_; }
  // Under the mutex.
  QueueTable& table() { return table_; }
  Evictions& evictions() { return evictions_; }
  // How often queues were resumed. Not under the mutex.
  Resumptions& resumptions() { return resumptions_; }

  // Who gives the process its time slices; null: it is not shared in time.
  TimeSliceHook* time_slices() const { return time_slices_.load(); }
  void set_time_slices(TimeSliceHook* hook) { time_slices_.store(hook); }

 private:
  std::unique_ptr<platform::Mutex> mutex_;
  ProcessCommands& commands_;
  QueueTable table_;
  Evictions evictions_;
  Resumptions resumptions_;
  std::atomic<TimeSliceHook*> time_slices_{nullptr};
};

}  // namespace npu::driver
