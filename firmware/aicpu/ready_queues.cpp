// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/ready_queues.hpp"

#include <algorithm>

namespace npu::firmware {
namespace {

constexpr unsigned kTimeout = 1'000'000;  // turns of a wait for another thread's next store

std::uint32_t head_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
std::uint32_t length_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32) - head_of(word);
}

}  // namespace

bool ReadyQueues::push_shared(std::uint32_t task, ReadyClass cls) {
  auto& port = run_.port();
  const std::uint64_t before = port.fetch_add(word(cls), 8, kTail);
  if (length_of(before) >= run_.header().tasks) {
    overflow_ = true;
    return false;
  }
  // The entry is empty unless a whole round ago somebody took it and has not come to empty it yet.
  const std::uint64_t place = entry(cls, static_cast<std::uint32_t>(before >> 32));
  for (unsigned turn = 0; turn < kTimeout; ++turn) {
    if (port.compare_exchange(place, 4, 0, task + 1) != 0) continue;
    tell_news();
    return true;
  }
  overflow_ = true;
  return false;
}

void ReadyQueues::tell_news() {
  run_.port().fetch_add(run_.control(scratch::kNews), 4, 1);
}

bool ReadyQueues::look_for_news() {
  const std::uint32_t news = run_.load32(run_.control(scratch::kNews));
  if (news == news_) return false;
  news_ = news;
  drained_ = {};
  return true;
}

unsigned ReadyQueues::length(ReadyClass cls) {
  const unsigned length = shared(cls);
  drained_[static_cast<unsigned>(cls)] = length == 0;
  return length;
}

unsigned ReadyQueues::shared(ReadyClass cls) const {
  return length_of(run_.port().load(word(cls), 8));
}

bool ReadyQueues::refill(ReadyClass cls, unsigned max, unsigned leave) {
  if (drained(cls)) return false;
  auto& port = run_.port();
  std::uint64_t seen = port.load(word(cls), 8);
  std::uint32_t count = 0;
  for (;;) {
    const std::uint32_t length = length_of(seen);
    drained_[static_cast<unsigned>(cls)] = length == 0;
    if (length <= leave || max == 0) return false;
    // A task of several blocks may want all cores.
    const unsigned most = wide_[static_cast<unsigned>(cls)] ? 1 : kRefill;
    count = std::min({length - leave, max, most});
    const std::uint64_t now = port.compare_exchange(word(cls), 8, seen, seen + count);
    if (now == seen) break;
    seen = now;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t place = entry(cls, head_of(seen) + i);
    std::uint32_t task = run_.load32(place);
    // Who has moved the tail is about to write it, unless that thread has died.
    for (unsigned turn = 0; task == 0 && turn < kTimeout; ++turn) {
      task = run_.load32(place);
    }
    if (task == 0) {
      overflow_ = true;
      return false;
    }
    run_.store32(place, 0);
    queue(cls).push(task - 1, run_.kind(task - 1));
  }
  return true;
}

// Whoever has the task out of a queue has its counter for itself.
bool ReadyQueues::take_blocks(ReadyClass cls, unsigned max, Share& share) {
  const std::uint64_t counter = run_.task(share.task, offsetof(TaskState, next_block));
  share.first = run_.load32(counter);
  share.count = std::min(max, share.kind.blocks() - share.first);
  const std::uint32_t next = share.first + share.count;
  run_.store32(counter, next);
  const bool rest = next == share.kind.blocks() || push_shared(share.task, cls);
  // No core is left here for the tasks that were taken with it.
  return rest && (share.count < max || give_back(cls));
}

bool ReadyQueues::give_back(ReadyClass cls) {
  if (run_.header().threads == 1) return true;
  for (LocalQueue& own = queue(cls); !own.empty(); own.pop()) {
    if (!push_shared(own.front().task, cls)) return false;
  }
  return true;
}

unsigned ReadyQueues::local_of_others(ReadyClass cls) const {
  unsigned count = 0;
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    if (c != static_cast<unsigned>(cls)) count += local(static_cast<ReadyClass>(c));
  }
  return count;
}

std::uint32_t ReadyQueues::any_local() const {
  for (const auto& queue : local_) {
    if (!queue.empty()) return queue.front().task;
  }
  return kNoTask;
}

std::uint32_t ReadyQueues::any_shared() const {
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    const auto cls = static_cast<ReadyClass>(c);
    const std::uint64_t seen = run_.port().load(word(cls), 8);
    if (length_of(seen) == 0) continue;
    const std::uint32_t task = run_.load32(entry(cls, head_of(seen)));
    if (task != 0) return task - 1;
  }
  return kNoTask;
}

}  // namespace npu::firmware
