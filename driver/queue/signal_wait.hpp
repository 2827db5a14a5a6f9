// SPDX-License-Identifier: Apache-2.0
// One wait for signals.
#pragma once

#include <vector>

#include "driver/event/wait_loop.hpp"
#include "driver/queue/signals_impl.hpp"

namespace npu::driver {

class SignalWaitLoop final : private WaitLoop {
 public:
  // For all of `waits`, or for one of them.
  SignalWaitLoop(Signals::Impl& signals, std::vector<SignalWait>& waits, bool all, Instant deadline)
      : WaitLoop(signals.link.clock(), signals.vector, deadline),
        signals_(signals),
        waits_(waits),
        all_(all) {}
  ~SignalWaitLoop() override;

  // The first whose condition holds. As Signals::wait_any().
  Result<std::size_t> run(WaitPolicy policy);

 private:
  // What a signal was when the wait began.
  struct Begin {
    std::uint64_t value = 0;
    std::uint32_t generation = 0;
  };

  Status begin(bool may_sleep);
  bool look() override;
  ConstByteSpan watched() const override {
    return signals_.memory->cpu().subspan(lowest_ * abi::kSignalSize,
                                          (highest_ - lowest_ + 1) * abi::kSignalSize);
  }
  Done probe() override;
  void learn_wake_cost(Picoseconds) override {}
  bool is_met(std::size_t i) const;
  void take(std::size_t i);

  Signals::Impl& signals_;
  std::vector<SignalWait>& waits_;
  const bool all_;
  bool sleeps_ = false;  // who sets a signal is to wake it
  std::vector<Begin> begins_;
  std::size_t lowest_ = 0, highest_ = 0;  // slots
  std::size_t first_met_ = 0;
  Status error_;
};

}  // namespace npu::driver
