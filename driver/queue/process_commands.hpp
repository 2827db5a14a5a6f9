// SPDX-License-Identifier: Apache-2.0
// Commands of one process to the card's management queue.
#pragma once

#include <vector>

#include "driver/queue/management_ring.hpp"
#include "driver/queue/queue_record.hpp"

namespace npu::driver {

class ProcessCommands {
 public:
  // `pasid`: the process', once it has one. `timeout`: for the answer to a command.
  ProcessCommands(platform::Clock& clock, ManagementRing& ring, const PooledId& pasid,
                  Picoseconds timeout)
      : clock_(clock), ring_(ring), pasid_(pasid), timeout_(timeout) {}

  ManagementRing& ring() { return ring_; }
  Picoseconds timeout() const { return timeout_; }
  // Of a command of the driver's own that is given now.
  Instant deadline() const { return clock_.now() + timeout_; }

  // kBadDevice: the card has refused. Those that may be repeated are, if another task has restarted
  // the ring.
  Result<ManagementAnswer> execute(const abi::ManagementCommand& command, Instant deadline,
                                   DeadlineOf whose = DeadlineOf::kDriver);
  std::vector<Result<ManagementAnswer>> execute(const std::vector<abi::ManagementCommand>& commands,
                                                Instant deadline,
                                                DeadlineOf whose = DeadlineOf::kDriver);
  // An answer that is none but success is an error.
  static Result<ManagementAnswer> accepted(Result<ManagementAnswer> answer, std::uint8_t opcode);

  abi::ManagementCommand on_queue(abi::ManagementOpcode opcode, const QueueRecord& record,
                                  abi::PreemptMode mode = abi::PreemptMode::kDrain) const;

  tl::unexpected<Error> no_queue(QueueId id) const;
  // The process' mutex was not to be had by a caller's deadline.
  tl::unexpected<Error> others_too_long() const;

 private:
  platform::Clock& clock_;
  ManagementRing& ring_;
  const PooledId& pasid_;
  const Picoseconds timeout_;
};

}  // namespace npu::driver
