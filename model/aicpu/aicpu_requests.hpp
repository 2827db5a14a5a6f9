// SPDX-License-Identifier: Apache-2.0
// What of a core's accesses takes time on the way to memory: reads, translations, and what AI Cores
// have written to the same lines before. One at a time; the program waits.
#pragma once

#include "model/aicpu/aicpu_thread.hpp"
#include "model/aicpu/poll_rounds.hpp"

namespace npu::model {

class AicpuRequests {
 public:
  using Access = AicpuShared::Access;

  AicpuRequests(AicpuShared& shared, unsigned number, AicpuThread& thread, PollRounds& rounds)
      : shared_(shared), number_(number), thread_(thread), rounds_(rounds) {}

  // A read of memory, at the end of which the bytes are to be taken.
  void read(std::uint64_t address, Bytes length);
  // Whether the program has waited for the translation. The access is to be made at its end:
  // whoever has memory moved waits for nobody who is still to make one.
  bool translate(Access access, std::uint64_t address);
  // Requests for a line are served behind what AI Cores have written to it before.
  void await_writes(std::uint64_t address, Bytes length);

  // The parts of an access: until the answer is there, and what it says.
  void await_answer(Access access, std::uint64_t address, Bytes length);
  void check_answer(Access access, std::uint64_t address);
  void answered(Completion completion);
  bool waiting() const { return waiting_; }

 private:
  AicpuShared& shared_;
  const unsigned number_;
  AicpuThread& thread_;
  PollRounds& rounds_;
  sc_core::sc_event answer_;
  bool waiting_ = false;
  Completion completion_ = Completion::kSuccess;
};

}  // namespace npu::model
