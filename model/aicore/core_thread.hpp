// SPDX-License-Identifier: Apache-2.0
// The scalar unit's thread in time.
//
// Its local time runs ahead of simulated time. It catches up where something else could tell:
// before an access to memory and registers, where it waits, and at the latest after kRunAhead.
// A block that is over, because it was stopped, reset or is at fault, is cut: the next call of the
// thread throws Cut through the program.
#pragma once

#include <algorithm>
#include <systemc>

#include "model/aicore/call_stack.hpp"
#include "model/aicore/scalar_waits.hpp"
#include "model/aicore/statistics.hpp"
#include "model/core/program_run.hpp"
#include "model/core/simulation.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/instruction_fault.hpp"

namespace npu::model {

class CoreThread {
 public:
  class Others {
   public:
    virtual ~Others() = default;
    // A core of a lower number goes on at this very time and has not done so.
    virtual bool goes_later(unsigned core, SimTime when) const = 0;
  };
  // What the thread waits for.
  class Condition {
   public:
    virtual ~Condition() = default;
    virtual bool satisfied() const = 0;
    // It will never be, and the fault's address for that.
    virtual bool hopeless() const { return false; }
    virtual std::uint64_t deadlock() const { return 0; }
  };
  using Cut = ProgramRun::Ended;

  CoreThread(Simulation& sim, CoreTracks& tracks, unsigned number, const CallStack& calls,
             ProgramCoreStatistics& statistics, const Others& others);

  // --- local time
  SimTime local() const { return local_; }
  void set_local(SimTime when) { local_ = when; }
  // It takes time, during which the scalar unit is busy, or is not.
  void spend(SimTime time) {
    local_ += time;
    statistics_.busy[static_cast<std::size_t>(platform::Pipe::kScalar)] += time;
  }
  void pass(SimTime time) { local_ += time; }
  void reach(SimTime when) { local_ = std::max(local_, when); }
  // The scalar unit has stood still since `begin`, for something of `pipe`.
  void waited(platform::ScalarWait wait, SimTime begin,
              platform::Pipe pipe = platform::Pipe::kAll) {
    waits_told_.waited({wait, pipe, platform::BeganAfter::kOwn, platform::Pipe::kScalar}, begin,
                       local_);
  }
  // For a line that a load has missed; `polls`: in a round of a poll loop.
  void waited_for_line(SimTime begin, bool polls) {
    waits_told_.waited({platform::ScalarWait::kMemory, platform::Pipe::kAll,
                        platform::BeganAfter::kOwn, platform::Pipe::kScalar},
                       begin, local_, polls);
  }
  // For room in the queue of `pipe`, which an entry left that `after` says.
  void waited_for_room(SimTime begin, platform::Pipe pipe, platform::BeganAfter after,
                       platform::Pipe flag) {
    waits_told_.waited({platform::ScalarWait::kRoom, pipe, after, flag}, begin, local_);
  }
  ScalarWaits& told() { return waits_told_; }
  // Simulated time comes up to `when`, or to local time.
  void sync_to(SimTime when);
  void catch_up();
  // It goes on no further while it is hung, unless it is cut.
  void set_hung(bool hung) {
    hung_ = hung;
    if (!hung_ && stands_) wake_up();
  }
  // Each call of the port.
  void enter() {
    check();
    if (local_ > sim_now() + kRunAhead) catch_up();
  }
  // When the thread is to go on; UINT64_MAX: it waits for something else.
  SimTime resumes_at() const { return resumes_at_; }

  // --- waiting
  sc_core::sc_event& wake() { return wake_; }
  void wake_up() { sim_.agenda.notify(wake_); }
  void wait_for(const Condition& condition);
  // Until it is woken, which is for whoever changes it to do.
  void wait_once(const Condition& condition);
  bool waits_on(const Condition& condition) const { return waits_ == &condition; }
  // The condition may be satisfied, or hopeless.
  void progressed();
  void answered() {
    if (waits_ != nullptr && waits_->satisfied()) wake_up();
  }
  // Until `ended` or `limit`.
  template <class Ended>
  void sleep(SimTime limit, Ended ended) {
    while (!ended() && !cut_ && sim_now() < limit) sim_.agenda.wait(wake_, limit);
  }
  // Since a sleep has ended.
  void resumes_now() { resumes_at_ = sim_now(); }
  void slept() {
    resumes_at_ = UINT64_MAX;
    check();
  }

  // --- the end
  void begin_block(bool cut);
  void set_cut(bool cut) { cut_ = cut; }
  bool is_cut() const { return cut_; }
  void check() const {
    if (cut_) throw Cut{};
  }
  void end();
  // `pipe` and `number`: of the instruction at fault.
  void fail(const CommandFault& fault, platform::Pipe pipe, std::uint32_t number);
  void fail(const CommandFault& fault) { fail(fault, platform::Pipe::kScalar, calls_.issued()); }
  [[noreturn]] void raise_fault(abi::FaultCode code, std::uint64_t address = 0, bool write = false,
                                Bytes size = 0, platform::Pipe pipe = platform::Pipe::kScalar);
  // The address of a fault of the instruction that is about to be issued.
  std::uint64_t at_fault(abi::FaultyField field, platform::Pipe pipe, unsigned offset = 0,
                         unsigned buffer = 0) const;
  const CommandFault& fault() const { return fault_; }
  void set_fault(const CommandFault& fault) { fault_ = fault; }

 private:
  static constexpr SimTime kRunAhead = 10'000'000;  // ps; bounds what a stop has to wait for

  void stand();
  void keep_fault(CommandFault fault, platform::Pipe pipe, std::uint32_t number);

  Simulation& sim_;
  const unsigned number_;
  const CallStack& calls_;
  ProgramCoreStatistics& statistics_;
  const Others& others_;
  ScalarWaits waits_told_;
  sc_core::sc_event wake_;
  SimTime local_ = 0;
  SimTime resumes_at_ = UINT64_MAX;
  const Condition* waits_ = nullptr;
  bool cut_ = false;
  bool hung_ = false, stands_ = false;
  CommandFault fault_;  // of the block
};

}  // namespace npu::model
