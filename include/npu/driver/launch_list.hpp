// SPDX-License-Identifier: Apache-2.0
// Launches that are recorded once and run again and again: a captured graph. Arguments stay on the
// card between runs, and a run is one submission to each queue, of the entries as they were
// recorded. Programs that launch each kernel by itself use ExecutionStream (execution_stream.hpp).
//
// Members are called by one task at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

struct LaunchListOptions {
  // By LaunchCores, as in ExecutionStreamOptions.
  std::array<CoreMask, kLaunchCores> cores{kAllCores, kAllCores, kAllCores};
  unsigned priority = 7;     // as in QueueOptions
  bool preemptible = false;  // as in QueueOptions
};

class NPU_API LaunchList {
 public:
  // `process` outlives it.
  LaunchList(ProcessContext& process, const LaunchListOptions& options = {});
  // What runs is aborted. Its memory is given back.
  ~LaunchList();
  LaunchList(const LaunchList&) = delete;
  LaunchList& operator=(const LaunchList&) = delete;

  // --- Recording. An entry begins when all before it have ended.
  // The number of the launch, from 0. The card sees its arguments at finish(); KernelLaunch::write
  // is called now.
  // kInvalidArgument: no module, 0 blocks, too many bytes, or finish() was called.
  // kOutOfMemory: no memory for arguments.
  // Also the errors of KernelLaunch::write.
  Result<std::size_t> add(const KernelLaunch& launch);
  // A gap between launches, for work of another stream. Its number, from 0.
  std::size_t add_gap();
  // Makes queues and memory, and copies the arguments, until `deadline`.
  // kInvalidArgument: no launch, too many for a ring, a gap that is not between two launches, or
  // finish() was called.
  // kOutOfMemory: no memory for signals.
  // kTimeout, kDeviceFault: the copies.
  // Also the errors of ProcessContext::create_queue().
  Status finish(Instant deadline);

  // --- Runs.
  // Other arguments and blocks for launch `number` from the next run on, by a copy in front of it.
  // kInvalidArgument: no such launch, other cores or more bytes than it was recorded with, the last
  // run was not waited for, or finish() was not called.
  // Also the errors of KernelLaunch::write.
  Status update(std::size_t number, const KernelLaunch& launch);
  // Submits all of it behind the last run.
  // kInvalidArgument: finish() was not called.
  // Also the errors of Queue::submit(), until `deadline`.
  Status run(Instant deadline);
  // Of the last run: an entry for another stream that waits until the launches in front of the gap
  // have ended, and one that lets those behind it begin.
  // The gap must be there.
  abi::QueueEntry wait_for_gap(std::size_t gap) const;
  abi::QueueEntry end_gap(std::size_t gap) const;
  // Waits, by polling, until the last run has ended.
  // kTimeout: not at `deadline`.
  // kDeviceFault: an entry has failed. The list cannot be run again.
  Status wait(Instant deadline);

  // Where launch `number` of the last run is: queue and index. It must be there.
  QueueTicket place_of(std::size_t number) const;
  std::size_t launches() const;

  struct Impl;  // the driver's own

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
