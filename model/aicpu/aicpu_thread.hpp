// SPDX-License-Identifier: Apache-2.0
// An AICPU's process in time, and the block that it runs. The program's local time may be ahead of
// simulated time by what nobody else can tell: its own instructions, stores to registers on their
// way, the end of a load. Every access that others see, or that shows what others do, waits for its
// time first. Of accesses at one time, those of cores with lower numbers go first, and all of them
// after what else happens then, so that what is seen depends on times alone.
#pragma once

#include <algorithm>
#include <utility>

#include "model/aicpu/aicpu_shared.hpp"
#include "model/aicpu/aicpu_work.hpp"
#include "model/core/program_run.hpp"

namespace npu::model {

class AicpuThread {
 public:
  using Ended = ProgramRun::Ended;  // thrown through the program at its next access

  AicpuThread(AicpuShared& shared, unsigned number);

  // --- the block
  // Its program begins, at `when` or now; `stopped`: it ends at once.
  void begin(const KernelBlock& block, bool stopped, SimTime when);
  AicpuStatistics& statistics() { return statistics_; }
  const AicpuStatistics& statistics() const { return statistics_; }
  const KernelBlock& block() const { return block_; }
  SpaceId space() const { return block_.vmid; }
  void stop() { stop_ = true; }
  void check() const {
    if (stop_) throw Ended{};
  }
  [[noreturn]] void fault(abi::FaultCode code, std::uint64_t address, bool write);
  // The first one counts.
  void note_fault(const CommandFault& fault) {
    if (!fault_.failed()) fault_ = fault;
  }
  void set_fault(const CommandFault& fault) { fault_ = fault; }
  const CommandFault& fault() const { return fault_; }

  // --- local time
  SimTime local() const { return local_; }
  void set_local(SimTime when) { local_ = when; }
  void reach(SimTime when) { local_ = std::max(local_, when); }
  void pass(SimTime time) { local_ += time; }
  void compute(std::uint64_t instructions) {
    local_ += instructions * 100'000'000 / instruction_scale_;
  }
  // Of what the program computes all but the end, if it is much.
  void sit_out();
  // Simulated time comes up to the program's own.
  void synchronise();
  // It makes no access while it is hung, unless it is stopped.
  void set_hung(bool hung) {
    hung_ = hung;
    if (!hung_ && stands_) wake_up();
  }
  bool hung() const { return hung_; }
  // Whether it has stood since this was asked before: what it did meanwhile is no measure of time.
  bool take_stood() { return std::exchange(stood_, false); }
  // When the process has an access that it waits for; UINT64_MAX: it does not.
  SimTime next_access() const { return next_access_; }

  // --- waiting
  // Until wake_up() or `limit`; for one who waits in a loop.
  void wait(SimTime limit) { sim_.agenda.wait(wake_, limit); }
  void wake_up() { sim_.agenda.notify(wake_); }
  // The program is stopped in what it computes, or where it stands.
  void interrupt() {
    if (computing_ || stands_) wake_up();
  }

 private:
  void await_turn();
  void stand();

  static constexpr SimTime kUninterrupted = 1'000'000;  // ps of computing; more is ended by a stop

  AicpuShared& shared_;
  Simulation& sim_;
  const unsigned number_;
  const std::uint64_t instruction_scale_;  // ipc percent * MHz: ps = 10^8 instructions / scale
  sc_core::sc_event wake_;
  bool stop_ = false;
  bool computing_ = false;  // for long
  bool hung_ = false, stands_ = false, stood_ = false;
  KernelBlock block_;
  AicpuStatistics statistics_;
  CommandFault fault_;  // of the block
  SimTime local_ = 0;
  SimTime next_access_ = UINT64_MAX;
};

}  // namespace npu::model
