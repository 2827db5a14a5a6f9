// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_thread.hpp"

namespace npu::model {

CoreThread::CoreThread(Simulation& sim, CoreTracks& tracks, unsigned number, const CallStack& calls,
                       ProgramCoreStatistics& statistics, const Others& others)
    : sim_(sim),
      number_(number),
      calls_(calls),
      statistics_(statistics),
      others_(others),
      waits_told_(sim, tracks, calls) {}

// --- local time ----------------------------------------------------------------------------

// Of cores at one time those of lower numbers go first, whatever woke them, so that what happens
// depends on times alone. Ahead of the kernel there is nobody else at that time.
void CoreThread::sync_to(SimTime when) {
  resumes_at_ = std::max(when, sim_now());
  while (sim_now() < when && !cut_) sim_.agenda.wait(wake_, when);
  if (hung_) stand();
  if (!cut_) sim_.agenda.wait_until(sim_now());  // handlers due at this time go first
  while (!cut_ && detail::ahead_to == 0 && others_.goes_later(number_, resumes_at_)) {
    sim_.agenda.wait_a_delta();
    sim_.agenda.wait_until(sim_now());
  }
  resumes_at_ = UINT64_MAX;
  check();
}

void CoreThread::stand() {
  stands_ = true;
  resumes_at_ = UINT64_MAX;  // nobody waits for its turn
  while (hung_ && !cut_) sim_.agenda.wait(wake_);
  stands_ = false;
  resumes_at_ = sim_now();
  reach(resumes_at_);
}

void CoreThread::catch_up() {
  sync_to(local_);
  reach(sim_now());
}

// --- waiting -------------------------------------------------------------------------------

void CoreThread::wait_for(const Condition& condition) {
  while (!condition.satisfied()) {
    if (condition.hopeless()) raise_fault(abi::FaultCode::kFlagDeadlock, condition.deadlock());
    wait_once(condition);
  }
}

void CoreThread::wait_once(const Condition& condition) {
  waits_ = &condition;
  sim_.agenda.wait(wake_);
  waits_ = nullptr;
  check();
}

void CoreThread::progressed() {
  if (waits_ == nullptr) return;
  if (waits_->satisfied() || waits_->hopeless()) wake_up();
}

// --- the end -------------------------------------------------------------------------------

void CoreThread::begin_block(bool cut) {
  cut_ = cut;
  waits_told_.forget();
  local_ = sim_now();
}

void CoreThread::end() {
  cut_ = true;
  wake_up();
}

void CoreThread::keep_fault(CommandFault fault, platform::Pipe pipe, std::uint32_t number) {
  fault.instruction = abi::InstructionPlace{static_cast<std::uint8_t>(pipe), number}.pack();
  fault_ = fault;
}

void CoreThread::fail(const CommandFault& fault, platform::Pipe pipe, std::uint32_t number) {
  if (cut_) return;
  keep_fault(fault, pipe, number);
  end();
}

void CoreThread::raise_fault(abi::FaultCode code, std::uint64_t address, bool write, Bytes size,
                             platform::Pipe pipe) {
  if (!cut_) keep_fault({code, address, calls_.space(), write, size}, pipe, calls_.issued());
  cut_ = true;
  throw Cut{};
}

std::uint64_t CoreThread::at_fault(abi::FaultyField field, platform::Pipe pipe, unsigned offset,
                                   unsigned buffer) const {
  return abi::InstructionFault{field, static_cast<std::uint8_t>(buffer),
                               static_cast<std::uint8_t>(pipe), calls_.issued(), offset}
      .pack();
}

}  // namespace npu::model
