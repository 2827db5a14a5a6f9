// SPDX-License-Identifier: Apache-2.0
// Tasks that are ready: a short queue of the thread's own per class, for what its idle cores will
// take next, and a ring per class that all threads share.
//
// A shared ring is one word, head in its lower and tail in its upper half, and an array of tasks
// + 1. Who has moved the head owns the entries before it; who has moved the tail writes the entry
// behind it, once it is empty. Then it tells everybody by one word that all rings have: a thread
// that has found a ring empty does not look at it again before that word has changed.
#pragma once

#include <array>

#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

// Blocks of one task that a thread has taken.
struct Share {
  std::uint32_t task = kNoTask;
  TaskKind kind;
  std::uint32_t first = 0, count = 0;
};

// Tasks of one class that a thread has for its own cores.
class LocalQueue {
 public:
  struct Entry {
    std::uint32_t task = kNoTask;
    TaskKind kind;
  };
  // As many as a thread has cores, or has taken from a shared ring at a time.
  static constexpr unsigned kMost = 128;
  static_assert(abi::kMaxWorkers <= kMost);

  unsigned size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  const Entry& front() const { return entries_[begin_ % kMost]; }
  void push(std::uint32_t task, TaskKind kind) { entries_[end_++ % kMost] = {task, kind}; }
  void pop() { ++begin_; }

 private:
  std::array<Entry, kMost> entries_;
  unsigned begin_ = 0, end_ = 0;
};

class ReadyQueues {
 public:
  explicit ReadyQueues(const RunView& run) : run_(run) {}

  // `room`: idle cores of this thread for it. False: overflow().
  bool push(std::uint32_t task, TaskKind kind, unsigned room) {
    LocalQueue& own = queue(kind.ready_class());
    // Several threads may take blocks of one task, and one opens a task whose blocks begin
    // together.
    const bool single = kind.blocks() == 1 && !kind.cooperative();
    if (!single || own.size() >= room) return push_shared(task, kind.ready_class());
    own.push(task, kind);
    return true;
  }
  // The same for a plain task; false: there is no room.
  bool push_own(std::uint32_t task, TaskKind kind, unsigned room) {
    LocalQueue& own = queue(kind.ready_class());
    if (own.size() >= room) return false;
    own.push(task, kind);
    return true;
  }
  // Up to `max` blocks of the next task of `cls`. Of the shared ring's entries, `leave` are left
  // to others. False: none, or overflow().
  bool take(ReadyClass cls, unsigned max, unsigned leave, Share& share) {
    if (max == 0) return false;
    LocalQueue& own = queue(cls);
    if (own.empty() && !refill(cls, max, leave)) return false;
    share.task = own.front().task;
    share.kind = own.front().kind;
    share.first = 0;
    share.count = 1;
    own.pop();
    wide_[static_cast<unsigned>(cls)] = share.kind.blocks() > 1;
    return share.kind.blocks() == 1 || share.kind.cooperative() || take_blocks(cls, max, share);
  }
  // The thread's own tasks are for others, if there are any. False: overflow().
  bool give_back(ReadyClass cls);
  // A shared ring is full, or broken.
  bool overflow() const { return overflow_; }

  unsigned local(ReadyClass cls) const { return queue(cls).size(); }
  unsigned local_of_others(ReadyClass cls) const;  // of all classes but `cls`
  unsigned shared(ReadyClass cls) const;
  // Once per round: whether anybody has told news since the last look.
  bool look_for_news();
  void tell_news();
  // As far as is known since the last look.
  bool none(ReadyClass cls) const { return queue(cls).empty() && drained(cls); }
  bool any(ReadyClass cls) { return local(cls) > 0 || (!drained(cls) && length(cls) > 0); }
  // For a diagnosis: one of the local tasks, or one in a shared ring.
  std::uint32_t any_local() const;
  std::uint32_t any_shared() const;

 private:
  static constexpr std::uint64_t kTail = std::uint64_t{1} << 32;
  static constexpr unsigned kRefill = 32;  // tasks, at most

  LocalQueue& queue(ReadyClass cls) { return local_[static_cast<unsigned>(cls)]; }
  const LocalQueue& queue(ReadyClass cls) const { return local_[static_cast<unsigned>(cls)]; }
  std::uint64_t word(ReadyClass cls) const {
    return run_.thread_line(scratch::kQueues, static_cast<unsigned>(cls));
  }
  std::uint64_t entry(ReadyClass cls, std::uint32_t position) const {
    return run_.ring(cls) + std::uint64_t{position % run_.header().tasks} * 4;
  }
  bool drained(ReadyClass cls) const { return drained_[static_cast<unsigned>(cls)]; }
  unsigned length(ReadyClass cls);
  bool push_shared(std::uint32_t task, ReadyClass cls);
  bool take_blocks(ReadyClass cls, unsigned max, Share& share);
  bool refill(ReadyClass cls, unsigned max, unsigned leave);

  const RunView& run_;
  std::array<LocalQueue, kReadyClasses> local_;
  std::array<bool, kReadyClasses> wide_{};  // the last task had several blocks
  // The shared ring was found empty, and nothing has been pushed since.
  std::array<bool, kReadyClasses> drained_{};
  std::uint32_t news_ = 0;
  bool overflow_ = false;
};

}  // namespace npu::firmware
