// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_thread.hpp"

namespace npu::model {

AicpuThread::AicpuThread(AicpuShared& shared, unsigned number)
    : shared_(shared),
      sim_(shared.sim),
      number_(number),
      instruction_scale_(std::max<std::uint64_t>(shared.launch.clock_hz / 1'000'000, 1) *
                         shared.config.ipc_percent) {}

void AicpuThread::begin(const KernelBlock& block, bool stopped, SimTime when) {
  block_ = block;
  stop_ = stopped;
  fault_ = {};
  local_ = std::max(when, sim_now());
}

void AicpuThread::fault(abi::FaultCode code, std::uint64_t address, bool write) {
  note_fault({code, address, space(), write});
  throw Ended{};
}

void AicpuThread::sit_out() {
  check();
  if (local_ <= sim_now() + kUninterrupted) return;
  computing_ = true;
  wait(local_ - kUninterrupted);
  computing_ = false;
  if (stop_) local_ = sim_now();  // the rest is not done
  check();
}

void AicpuThread::synchronise() {
  sit_out();
  do {
    if (hung_) stand();
    await_turn();
  } while (hung_ && !stop_);
  check();
}

void AicpuThread::stand() {
  stands_ = stood_ = true;
  while (hung_ && !stop_) sim_.agenda.wait(wake_);
  stands_ = false;
  reach(sim_now());
  check();
}

// It is the program's time, and its turn among those who have an access at this time.
void AicpuThread::await_turn() {
  if (local_ < sim_now()) {
    local_ = sim_now();
    return;
  }
  next_access_ = local_;
  sim_.agenda.wait_until(local_);
  // Ahead of the kernel there is nobody else at this time.
  if (detail::ahead_to == 0 && sc_core::sc_pending_activity_at_current_time()) {
    do sim_.agenda.wait_a_delta();
    while (shared_.goes_later(number_, local_));
  }
  next_access_ = UINT64_MAX;
}

}  // namespace npu::model
