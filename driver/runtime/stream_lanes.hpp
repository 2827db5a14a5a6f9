// SPDX-License-Identifier: Apache-2.0
// The queues of a stream, at most one for each kind of cores, and the order across them: entries
// run in the order in which they were appended. Work on other cores than the last work waits for
// a signal, which the last work records.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "driver/runtime/stream_lane.hpp"
#include "driver/runtime/stream_signal.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

// The queues as they were at one time: a task that finds an error makes new ones meanwhile.
struct LaneSet {
  struct Stopped {
    std::shared_ptr<StreamLane> lane;  // null: none has stopped
    Error error;
  };

  bool has(const std::shared_ptr<StreamLane>& lane) const {
    return std::find(of.begin(), of.end(), lane) != of.end();
  }
  std::size_t count() const {
    return of.size() - static_cast<std::size_t>(std::count(of.begin(), of.end(), nullptr));
  }
  // A queue may wait without end for one that has stopped, so both are looked at. `all_done`
  // becomes false if there is work.
  Stopped stopped(bool& all_done) const;
  // Until all work has ended, or a queue has stopped. kTimeout.
  Result<Stopped> wait(platform::Clock& clock, Instant deadline) const;

  std::array<std::shared_ptr<StreamLane>, kLaunchCores> of;  // by LaunchCores
};

// An entry and the cores of its queue.
struct LaneWork {
  LaunchCores kind = LaunchCores::kVector;
  abi::QueueEntry entry;
};

class StreamLanes {
 public:
  // `closing`: nothing waits for room any more.
  StreamLanes(ProcessContext& process, const ExecutionStreamOptions& options,
              const std::atomic<bool>& closing);

  // Makes the queue, if it is not there. What ProcessContext::create_queue() says.
  Status open(LaunchCores kind);
  // The queue gets the cores that the options now have.
  Status apply_cores(LaunchCores kind);
  struct Appended {
    std::shared_ptr<StreamLane> lane;
    QueueTicket ticket;
  };
  // `record`: a record follows the entries, and the ticket is the record's. Else it is that of the
  // last entry. Errors as of ExecutionStream::submit().
  Result<Appended> append(LaunchCores kind, const abi::QueueEntry* entries, std::size_t count,
                          bool record);
  // All of it, not empty, with as few doorbells as the rings have room for, and a record behind it.
  // `tickets`: of each entry; may be null. If one of several queues takes nothing, all are dropped:
  // the others may wait for it.
  Result<Appended> append(const std::vector<LaneWork>& work, std::vector<QueueTicket>* tickets);

  LaunchCores current() const { return current_; }  // where the last work was
  const LaneSet& lanes() const { return lanes_; }
  // Of the last append() with `record`.
  const std::shared_ptr<StreamSignal>& signal() const { return signal_; }
  std::uint64_t recorded() const { return recorded_; }

  // The first fault of entries that have failed since the last call, if their queue went on.
  std::optional<LaunchFault> take_failed();
  // Why the queue has stopped.
  LaunchFault fault_of(const StreamLane& lane, const Error& error) const;
  // Nothing of them runs any more. What waits for their records goes on.
  void drop(Instant deadline);

 private:
  std::shared_ptr<StreamLane>& lane_of(LaunchCores kind) {
    return lanes_.of[static_cast<std::size_t>(kind)];
  }
  // Of one append() of much work: the entries of a queue, and the place of each in the work;
  // kAdded: a wait or a record.
  struct Batch {
    std::vector<abi::QueueEntry> entries;
    std::vector<std::size_t> places;
  };
  static constexpr std::size_t kAdded = ~std::size_t{0};

  Status wait_behind_other_cores(std::vector<abi::QueueEntry>& entries);
  Status push_record(std::vector<abi::QueueEntry>& entries);
  Batch& batch_of(LaunchCores kind) { return batches_[static_cast<std::size_t>(kind)]; }
  Status change_cores(LaunchCores kind);
  Status put_batches(std::vector<QueueTicket>* tickets);
  Status append_all(const std::vector<LaneWork>& work, std::vector<QueueTicket>* tickets);
  Result<QueueTicket> put(StreamLane& lane, const abi::QueueEntry* entries, std::size_t count);

  ProcessContext& process_;
  platform::Clock& clock_;
  const ExecutionStreamOptions& options_;
  const std::atomic<bool>& closing_;
  LaneSet lanes_;
  LaunchCores current_ = LaunchCores::kVector;
  std::shared_ptr<StreamSignal> signal_;
  std::uint64_t recorded_ = 0;               // by the last work; 0: it recorded nothing
  std::vector<abi::QueueEntry> batch_;       // of one append()
  std::array<Batch, kLaunchCores> batches_;  // of one append() of much work
};

}  // namespace npu::driver
