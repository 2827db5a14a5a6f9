// SPDX-License-Identifier: Apache-2.0
// What a process whose queues run in time slices (npu/driver/time_slices.hpp) asks of who takes
// care of that.
#pragma once

#include "npu/driver/queue.hpp"

namespace npu::driver {

class QueueChannel;

class TimeSliceHook {
 public:
  virtual ~TimeSliceHook() = default;
  virtual Result<QueueTicket> submit(Queue& queue, const abi::QueueEntry* entries,
                                     std::size_t count, bool launch, Instant deadline,
                                     const QueueEntryOptions& options) = 0;
  // Until what was submitted by that is done, or has failed. kTimeout.
  virtual Status drain(QueueChannel& channel, Instant deadline) = 0;
  // The channel goes.
  virtual void forget(const QueueChannel& channel) = 0;
};

}  // namespace npu::driver
