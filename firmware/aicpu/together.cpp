// SPDX-License-Identifier: Apache-2.0
// Tasks whose blocks must begin together (kTaskTogether). One such task is open at a time; every
// thread claims blocks for its idle cores and writes their payloads, and when all blocks have a
// core each thread rings its own. Until all are claimed, no other work goes to such cores.
#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::TaskShape;

bool Scheduler::held_back(TaskShape shape) const {
  if (together_.open == 0 || together_.claimed) return false;
  const TaskShape wanted = together_.kind.shape();
  return cores_.counts().lanes == 1 || wanted == TaskShape::kMixed || shape == TaskShape::kMixed ||
         wanted == shape;
}

bool Scheduler::dispatch_together() {
  const std::uint64_t word = port_.load(run_.control(scratch::kTogether), 8);
  const auto open = static_cast<std::uint32_t>(word >> 32);
  if (open == 0) {
    together_.open = 0;
    return queues_.any(ReadyClass::kTogether) && open_together();
  }
  if (open != together_.open) {
    together_ = {};
    together_.open = open;
    together_.kind = run_.kind(open - 1);
  }
  const bool joined = !together_.claimed && join_together();
  const bool begun = !together_.reserved.empty() && begin_together();
  return joined || begun;
}

// What the word says is claimed by nobody yet; the next round takes part in it.
bool Scheduler::open_together() {
  const std::uint64_t lock = run_.control(scratch::kTogetherLock);
  if (port_.compare_exchange(lock, 4, 0, thread_ + 1) != 0) return false;
  Share share;
  if (!queues_.take(ReadyClass::kTogether, 1, 0, share)) {
    run_.store32(lock, 0);
    return false;
  }
  run_.store32(run_.control(scratch::kTogetherPlaced), 0);
  run_.store32(run_.control(scratch::kTogetherRung), 0);
  port_.store(run_.control(scratch::kTogether), 8, std::uint64_t{share.task + 1} << 32);
  queues_.tell_news();
  return true;
}

bool Scheduler::join_together() {
  const std::uint64_t address = run_.control(scratch::kTogether);
  const bool mixed = together_.kind.shape() == TaskShape::kMixed;
  cores_.hold_cluster(false);
  Share share;
  share.task = together_.open - 1;
  share.kind = together_.kind;
  std::uint32_t blocks = 0;
  std::uint64_t seen = port_.load(address, 8);
  while (seen >> 32 == together_.open) {
    const auto block = static_cast<std::uint32_t>(seen);
    together_.claimed = block >= share.kind.blocks();
    if (together_.claimed) break;
    if ((mixed ? cores_.idle_clusters() : cores_.idle(share.kind.shape())) == 0) break;
    const std::uint64_t now = port_.compare_exchange(address, 8, seen, seen + 1);
    if (now != seen) {
      seen = now;
      continue;
    }
    if (blocks++ == 0) placement_.begin(share);
    if (mixed) {
      placement_.place(block, *cores_.next_idle_cluster());
    } else {
      placement_.place(block, cores_.next(cores_.idle_cores(share.kind.shape())));
    }
    ++seen;
  }
  if (blocks == 0) return false;
  auto& placed = placement_.placed();
  for (auto* worker : placed) cores_.reserve(*worker, true);
  together_.reserved.insert(together_.reserved.end(), placed.begin(), placed.end());
  together_.blocks += blocks;
  placed.clear();
  port_.barrier();
  port_.fetch_add(run_.control(scratch::kTogetherPlaced), 4, blocks);
  return true;
}

// The last thread that has rung closes the request.
bool Scheduler::begin_together() {
  const std::uint32_t all = together_.kind.blocks();
  if (run_.load32(run_.control(scratch::kTogetherPlaced)) != all) return false;
  auto& placed = placement_.placed();
  placed.swap(together_.reserved);
  for (auto* worker : placed) cores_.reserve(*worker, false);
  placement_.ring();
  const std::uint32_t mine = together_.blocks;
  together_.blocks = 0;
  const auto before = port_.fetch_add(run_.control(scratch::kTogetherRung), 4, mine);
  if (before + mine != all) return true;
  port_.store(run_.control(scratch::kTogether), 8, 0);
  run_.store32(run_.control(scratch::kTogetherLock), 0);
  return true;
}

}  // namespace npu::firmware
