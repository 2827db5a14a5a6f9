// SPDX-License-Identifier: Apache-2.0
// How far a thread is, and what it knows of the others: each has a line that it alone writes.
#pragma once

#include "firmware/aicpu/cores.hpp"

namespace npu::firmware {

class Progress {
 public:
  explicit Progress(const RunView& run)
      : run_(run), port_(run.port()), thread_(run.port().thread()) {}

  // A core has ended a block, or its part of one; a task has ended, and its consumers know it.
  void note_lane() { ++lanes_; }
  void note_task() { ++completed_; }
  // A piece of a tensor was copied, which others hear of at once.
  void note_copied();
  // Tells the others what has changed since the last time, and how many of `cores` are idle.
  void publish(const Cores& cores);

  // All tasks have ended, and so nothing is on a core or in a queue.
  bool all_ended() const;
  // Cores of the other threads that are idle.
  unsigned idle_elsewhere(abi::TaskShape shape) const;
  // Changes with whatever moves on: here, and with thread 0 anywhere. Copies of tensors count,
  // which may take longer than a task.
  std::uint64_t moves() const;

  // The end. What a thread has done is in its line; thread 0 adds all of them up.
  struct Totals {
    std::uint64_t dispatched = 0, polls = 0, dump_ticks = 0;
  };
  void leave(const Totals& totals) const;
  void sum_up(const Totals& totals, abi::RunResult& result) const;

 private:
  ThreadProgress of(unsigned thread) const;

  const RunView run_;
  AicpuPort& port_;
  std::uint32_t completed_ = 0, lanes_ = 0;  // side by side, as they are published
  ThreadProgress published_;
  std::uint32_t copied_ = 0;
  const unsigned thread_;
};

}  // namespace npu::firmware
