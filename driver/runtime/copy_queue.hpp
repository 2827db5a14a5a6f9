// SPDX-License-Identifier: Apache-2.0
// The queue of a context's copies: one after the other, each waited for. A queue that an entry has
// stopped is replaced.
#pragma once

#include <memory>

#include "npu/driver/device.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {

class CopyQueue {
 public:
  CopyQueue(platform::Platform& platform, Device& device, ProcessContext& process)
      : platform_(platform), device_(device), process_(process) {}

  Status open();
  Status close();
  // Through a staging buffer.
  Status copy(DeviceAddress device_side, ByteSpan host_side, bool to_device);
  // Submits and waits. The error is the entries' alone: what comes next has a queue again, and
  // nothing of them runs.
  Status run(const abi::QueueEntry* work, std::size_t count);

 private:
  Status open_queue();
  Instant deadline();

  platform::Platform& platform_;
  Device& device_;
  ProcessContext& process_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<platform::DmaMemory> staging_;
};

}  // namespace npu::driver
