// SPDX-License-Identifier: Apache-2.0
// What becomes of a task all of whose producers have ended: it is queued, or ends at once where
// there is nothing to run.
#pragma once

#include "firmware/aicpu/cores.hpp"
#include "firmware/aicpu/ready_queues.hpp"
#include "firmware/aicpu/skipped_tasks.hpp"
#include "firmware/aicpu/tensor_copies.hpp"

namespace npu::firmware {

class ReadyTasks {
 public:
  ReadyTasks(const RunView& run, Cores& cores, ReadyQueues& queues, TensorCopies& copies)
      : run_(run),
        port_(run.port()),
        cores_(cores),
        queues_(queues),
        copies_(copies),
        watched_(run.has(abi::kRunProfile) || copies.wanted()) {}

  // Once the cores are dealt.
  void begin() { plain_cores_ = !watched_ && cores_.counts().lanes > 1; }

  void add(std::uint32_t task, TaskKind kind) {
    // What most tasks are.
    if (kind.plain() && plain_cores_ && queues_.push_own(task, kind, cores_.idle(kind.shape()))) {
      return;
    }
    add_any(task, kind);
  }
  SkippedTasks& skipped() { return skipped_; }

 private:
  void add_any(std::uint32_t task, TaskKind kind);
  void note(std::uint32_t task);
  bool is_skipped(std::uint32_t task);

  const RunView run_;
  AicpuPort& port_;
  Cores& cores_;
  ReadyQueues& queues_;
  TensorCopies& copies_;
  const bool watched_;  // somebody wants to know when tasks become ready, or their tensors then
  bool plain_cores_ = false;  // not watched, and cores run blocks of one shape each
  SkippedTasks skipped_;
};

}  // namespace npu::firmware
