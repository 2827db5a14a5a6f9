// SPDX-License-Identifier: Apache-2.0
// Whether the threads of a run are to leave their loops, and why: one word that all of them look
// at. Who sets it first says why.
#pragma once

#include "firmware/aicpu/core_link.hpp"

namespace npu::firmware {

class RunStop {
 public:
  explicit RunStop(const RunView& run) : run_(run) {}

  // A look at the word.
  bool look() {
    why_ = static_cast<Stop>(run_.load32(run_.control(scratch::kStop)));
    return is_known();
  }
  // As of the last look.
  bool is_known() const { return why_ != Stop::kNone; }
  Stop why() const { return why_; }

  // The first failure is the run's.
  void fail(abi::RunStatus status, std::uint32_t task, const Worker* worker = nullptr,
            std::uint32_t detail = 0, std::uint32_t cond = 0, std::uint32_t block = kNoBlock);
  // Of what the worker runs.
  void fail_in(const Assignment& what, abi::RunStatus status, const Worker& worker,
               std::uint32_t detail, std::uint32_t cond = 0) {
    fail(status, what.task, &worker, detail, cond, what.block);
  }
  // Nothing has moved for the watchdog's time. Known at the next look.
  void time_out();
  // What the first failure has said of itself: up to `started`, and the block.
  void read_failure(abi::RunResult& result) const;

 private:
  const RunView run_;
  Stop why_ = Stop::kNone;
};

}  // namespace npu::firmware
