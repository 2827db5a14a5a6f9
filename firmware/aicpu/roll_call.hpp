// SPDX-License-Identifier: Apache-2.0
// The first half of the handshake: thread 0 greets the workers and writes down who they are, which
// the other threads wait for.
#pragma once

#include <vector>

#include "firmware/aicpu/run_stop.hpp"

namespace npu::firmware {

class RollCall {
 public:
  // `quiet`: ticks that a worker may take to come.
  RollCall(const RunView& run, std::uint64_t quiet, RunStop& stop)
      : run_(run), port_(run.port()), quiet_(quiet), stop_(stop) {}

  // False: one has not come, and the run has failed.
  bool greet();
  // False: the run has failed, or thread 0 says nothing.
  bool await_greeted();

 private:
  bool has_come(std::uint32_t worker);
  std::uint32_t description_of(std::uint32_t worker);
  void dismiss_without(std::uint32_t missing);

  const RunView& run_;
  AicpuPort& port_;
  const std::uint64_t quiet_;
  RunStop& stop_;
  std::vector<std::uint32_t> descriptions_;  // of those that have come
};

}  // namespace npu::firmware
