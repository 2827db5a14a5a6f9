// SPDX-License-Identifier: Apache-2.0
// Tasks that are ready: a short queue of the thread's own per class, for what its idle cores will
// take next, and a ring per class that all threads share.
//
// A shared ring is one word, head in its lower and tail in its upper half, and an array of tasks
// + 1. Who has moved the head owns the entries before it; who has moved the tail writes the entry
// behind it, once it is empty.
#pragma once

#include <array>
#include <deque>

#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

// Blocks of one task that a thread has taken.
struct Share {
  std::uint32_t task = kNoTask;
  TaskKind kind;
  std::uint32_t first = 0, count = 0;
};

class ReadyQueues {
 public:
  explicit ReadyQueues(const RunView& run) : run_(run) {}

  // `room`: idle cores of this thread for it. False: overflow().
  bool push(std::uint32_t task, const TaskKind& kind, unsigned room);
  // Up to `max` blocks of the next task of `cls`. Of the shared ring's entries, `leave` are left
  // to others. False: none, or overflow().
  bool take(ReadyClass cls, unsigned max, unsigned leave, Share& share);
  // The thread's own tasks are for others, if there are any. False: overflow().
  bool give_back(ReadyClass cls);
  // A shared ring is full, or broken.
  bool overflow() const { return overflow_; }

  unsigned local(ReadyClass cls) const { return static_cast<unsigned>(queue(cls).size()); }
  unsigned local_of_others(ReadyClass cls) const;  // of all classes but `cls`
  unsigned shared(ReadyClass cls) const;
  // For a diagnosis: one of the local tasks, or one in a shared ring.
  std::uint32_t any_local() const;
  std::uint32_t any_shared() const;

 private:
  static constexpr std::uint64_t kTail = std::uint64_t{1} << 32;
  static constexpr unsigned kRefill = 32;  // tasks, at most

  std::deque<std::uint32_t>& queue(ReadyClass cls) { return local_[static_cast<unsigned>(cls)]; }
  const std::deque<std::uint32_t>& queue(ReadyClass cls) const {
    return local_[static_cast<unsigned>(cls)];
  }
  std::uint64_t word(ReadyClass cls) const {
    return run_.thread_line(scratch::kQueues, static_cast<unsigned>(cls));
  }
  std::uint64_t entry(ReadyClass cls, std::uint32_t position) const {
    return run_.ring(cls) + std::uint64_t{position % run_.header().tasks} * 4;
  }
  bool push_shared(std::uint32_t task, ReadyClass cls);
  void refill(ReadyClass cls, unsigned max, unsigned leave);

  const RunView& run_;
  std::array<std::deque<std::uint32_t>, kReadyClasses> local_;
  std::array<bool, kReadyClasses> wide_{};  // the last task had several blocks
  bool overflow_ = false;
};

}  // namespace npu::firmware
