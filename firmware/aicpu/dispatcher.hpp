// SPDX-License-Identifier: Apache-2.0
// From ready tasks, whose queues it has, to the cores of a thread: idle cores first, then the
// pending slots of busy ones.
#pragma once

#include "firmware/aicpu/cooperative_blocks.hpp"
#include "firmware/aicpu/placement.hpp"
#include "firmware/aicpu/progress.hpp"

namespace npu::firmware {

class Dispatcher {
 public:
  Dispatcher(const RunView& run, Cores& cores, CoreLink& link, const Progress& progress)
      : cores_(cores),
        progress_(progress),
        queues_(run),
        placement_(run, cores, link),
        cooperative_(run, cores, queues_, placement_) {}

  // One round. False: nothing was sent.
  bool dispatch();
  ReadyQueues& queues() { return queues_; }
  std::uint64_t rung() const { return placement_.rung(); }  // blocks

 private:
  bool dispatch_mixed();
  bool dispatch_single(abi::TaskShape shape);
  void place(const Share& share, const WorkerSet& cores);

  Cores& cores_;
  const Progress& progress_;
  ReadyQueues queues_;
  Placement placement_;
  CooperativeBlocks cooperative_;
};

}  // namespace npu::firmware
