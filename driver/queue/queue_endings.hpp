// SPDX-License-Identifier: Apache-2.0
// The end of queues of a process: by who has one, or with the device.
#pragma once

#include "driver/queue/process_faults.hpp"
#include "driver/queue/process_mapping.hpp"
#include "driver/queue/queue_removal.hpp"
#include "driver/queue/resumptions.hpp"
#include "driver/queue/time_slice_hook.hpp"

namespace npu::driver {

class QueueEndings {
 public:
  // `mutex`: the process'. `time_slice_hook`: null while the process runs when it wants.
  QueueEndings(Device::Impl& device, QueueManager& manager, platform::Mutex& mutex,
               ProcessCommands& commands, QueueTable& queues, QueueRemoval& removal,
               ProcessMapping& mapping, ProcessFaults& faults, Resumptions& resumptions,
               const std::atomic<TimeSliceHook*>& time_slice_hook)
      : device_(device),
        manager_(manager),
        mutex_(mutex),
        commands_(commands),
        queues_(queues),
        removal_(removal),
        mapping_(mapping),
        faults_(faults),
        resumptions_(resumptions),
        time_slice_hook_(time_slice_hook) {}

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

  Device::Impl& device_;
  QueueManager& manager_;
  platform::Mutex& mutex_;
  ProcessCommands& commands_;
  QueueTable& queues_;
  QueueRemoval& removal_;
  ProcessMapping& mapping_;
  ProcessFaults& faults_;
  Resumptions& resumptions_;
  const std::atomic<TimeSliceHook*>& time_slice_hook_;
};

}  // namespace npu::driver
