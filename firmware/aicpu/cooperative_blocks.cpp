// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/cooperative_blocks.hpp"

namespace npu::firmware {

using abi::TaskShape;

bool CooperativeBlocks::holds_back(TaskShape shape) const {
  if (open_ == 0 || claimed_) return false;
  const TaskShape wanted = kind_.shape();
  return cores_.counts().lanes == 1 || wanted == TaskShape::kMixed || shape == TaskShape::kMixed ||
         wanted == shape;
}

bool CooperativeBlocks::dispatch() {
  const std::uint64_t word = port_.load(run_.control(scratch::kCooperative), 8);
  const auto open_now = static_cast<std::uint32_t>(word >> 32);
  if (open_now == 0) {
    open_ = 0;
    return queues_.any(ReadyClass::kCooperative) && open();
  }
  if (open_now != open_) {
    open_ = open_now;
    kind_ = run_.kind(open_now - 1);
    claimed_ = false;
    blocks_ = 0;
    reserved_.clear();
  }
  const bool joined = !claimed_ && join();
  const bool begun = !reserved_.empty() && begin();
  return joined || begun;
}

// What the word says is claimed by nobody yet; the next round takes part in it.
bool CooperativeBlocks::open() {
  const std::uint64_t lock = run_.control(scratch::kCooperativeLock);
  if (port_.compare_exchange(lock, 4, 0, port_.thread() + 1) != 0) return false;
  Share share;
  if (!queues_.take(ReadyClass::kCooperative, 1, 0, share)) {
    run_.store32(lock, 0);
    return false;
  }
  run_.store32(run_.control(scratch::kCooperativePlaced), 0);
  run_.store32(run_.control(scratch::kCooperativeRung), 0);
  port_.store(run_.control(scratch::kCooperative), 8, std::uint64_t{share.task + 1} << 32);
  queues_.tell_news();
  return true;
}

bool CooperativeBlocks::join() {
  const std::uint64_t address = run_.control(scratch::kCooperative);
  const bool mixed = kind_.shape() == TaskShape::kMixed;
  cores_.hold_cluster(false);
  Share share;
  share.task = open_ - 1;
  share.kind = kind_;
  std::uint32_t blocks = 0;
  std::uint64_t seen = port_.load(address, 8);
  while (seen >> 32 == open_) {
    const auto block = static_cast<std::uint32_t>(seen);
    claimed_ = block >= share.kind.blocks();
    if (claimed_) break;
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
  reserved_.insert(reserved_.end(), placed.begin(), placed.end());
  blocks_ += blocks;
  placed.clear();
  port_.barrier();
  port_.fetch_add(run_.control(scratch::kCooperativePlaced), 4, blocks);
  return true;
}

// The last thread that has rung closes the request.
bool CooperativeBlocks::begin() {
  const std::uint32_t all = kind_.blocks();
  if (run_.load32(run_.control(scratch::kCooperativePlaced)) != all) return false;
  auto& placed = placement_.placed();
  placed.swap(reserved_);
  for (auto* worker : placed) cores_.reserve(*worker, false);
  placement_.ring();
  const std::uint32_t mine = blocks_;
  blocks_ = 0;
  const auto before = port_.fetch_add(run_.control(scratch::kCooperativeRung), 4, mine);
  if (before + mine != all) return true;
  port_.store(run_.control(scratch::kCooperative), 8, 0);
  run_.store32(run_.control(scratch::kCooperativeLock), 0);
  return true;
}

}  // namespace npu::firmware
