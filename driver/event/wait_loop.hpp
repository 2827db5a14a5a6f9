// SPDX-License-Identifier: Apache-2.0
// The three ways of waiting for something that the card writes into host memory: spin on it, sleep
// on an interrupt, or what a plan says. What is waited for is the derived class'.
//
// A sleeper sleeps on the interrupt and on a timer: a lost, masked or misdirected interrupt at most
// doubles the wait (kFirstProbe at least). At the same times it asks the card itself, which also
// detects one that is gone.
#pragma once

#include "driver/event/wait_plan.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

// A completion is much sooner than this unless something is wrong or the command is large.
inline constexpr Picoseconds kFirstProbe = 1_ms;

class WaitLoop {
 public:
  using Done = Result<bool>;  // false: the limit passed

  virtual ~WaitLoop() = default;

 protected:
  // `vector`: null if nobody can sleep.
  WaitLoop(platform::Clock& clock, platform::InterruptVector* vector, Instant deadline);

  // Is it done? Called after every change that may mean so.
  virtual bool look() = 0;
  // Changes when it may be done.
  virtual ConstByteSpan watched() const = 0;
  // Asks the card. True: it is done, whatever host memory says.
  virtual Done probe() = 0;
  // From a timer's expiry to the task running again.
  virtual void learn_wake_cost(Picoseconds sample) = 0;

  Done wait(WaitPolicy policy, const WaitPlan& plan);
  // Probes now.
  Done ask_card();
  Instant now() const { return clock_.now(); }

  const Instant deadline_;
  bool woken_by_interrupt_ = false;
  bool found_by_probe_ = false;

 private:
  Done follow(const WaitPlan& plan);
  Done spin(Instant limit);
  Done block(Instant limit);

  platform::Clock& clock_;
  platform::InterruptVector* const vector_;
  Picoseconds probe_interval_;
  Instant probe_at_;
};

}  // namespace npu::driver
