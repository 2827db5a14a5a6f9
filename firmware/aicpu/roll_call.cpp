// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/roll_call.hpp"

namespace npu::firmware {

using abi::Handshake;

// The lines are the scheduler's until aicpu_ready is set, then the core's until aicore_done is.
bool RollCall::greet() {
  const std::uint32_t workers = run_.header().workers;
  for (std::uint32_t w = 0; w < workers; ++w) {
    run_.store32(run_.handshake(w, offsetof(Handshake, aicpu_ready)), 1);
  }
  port_.barrier();
  descriptions_.assign(workers, kNoWorker);
  bool complete = true;
  for (std::uint32_t w = 0; w < workers && complete; ++w) {
    const std::uint64_t deadline = run_.in(quiet_);
    while (!has_come(w) && port_.poll_again(deadline)) continue;
    descriptions_[w] = description_of(w);
    complete = descriptions_[w] != kNoWorker;
    if (!complete) dismiss_without(w);
  }
  port_.write(run_.control(scratch::kWorkers), descriptions_.data(), descriptions_.size() * 4);
  run_.store32(run_.control(scratch::kCoresKnown), 1);
  return complete;
}

bool RollCall::has_come(std::uint32_t worker) {
  return run_.load32(run_.handshake(worker, offsetof(Handshake, aicore_done))) == worker + 1;
}

// A run without one of its cores: those behind it that have come are sent away with those before
// it. Those that have not are told in their lines, which the memory handshake looks at.
void RollCall::dismiss_without(std::uint32_t missing) {
  Worker worker;
  worker.index = missing;
  worker.physical = kNoWorker;
  stop_.fail(abi::RunStatus::kCoreMissing, kNoTask, &worker);
  for (std::uint32_t w = missing; w < run_.header().workers; ++w) {
    if (w != missing) descriptions_[w] = description_of(w);
    if (descriptions_[w] != kNoWorker) continue;
    run_.store32(run_.handshake(w, offsetof(Handshake, control)), 1);
  }
}

// Of a worker that has come and says who it is; else kNoWorker.
std::uint32_t RollCall::description_of(std::uint32_t worker) {
  if (!has_come(worker)) return kNoWorker;
  const auto core = run_.load32(run_.handshake(worker, offsetof(Handshake, physical_core)));
  const auto type = run_.load32(run_.handshake(worker, offsetof(Handshake, core_type)));
  if (core >= port_.core_windows() || type > static_cast<std::uint32_t>(abi::CoreType::kCoupled)) {
    return kNoWorker;
  }
  return core | type << 24;
}

bool RollCall::await_greeted() {
  // Thread 0 gives up before, one worker at a time.
  const std::uint64_t deadline = run_.in(quiet_ * (run_.header().workers + 1));
  for (;;) {
    const bool known = run_.load32(run_.control(scratch::kCoresKnown)) != 0;
    if (stop_.look()) return false;
    if (known) return true;
    if (!port_.poll_again(deadline)) return false;
  }
}

}  // namespace npu::firmware
