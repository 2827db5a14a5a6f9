// SPDX-License-Identifier: Apache-2.0
// Signals: waiting.
#include <fmt/format.h>

#include <algorithm>

#include "driver/event/wait_loop.hpp"
#include "driver/queue/signals_impl.hpp"
#include "driver/support/choice.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {
namespace {

class SignalWaitLoop final : private WaitLoop {
 public:
  SignalWaitLoop(const Signals::Impl& signals, std::vector<SignalWait>& waits, bool all,
                 Instant deadline)
      : WaitLoop(signals.device.platform.clock(), signals.vector, deadline),
        signals_(const_cast<Signals::Impl&>(signals)),
        waits_(waits),
        all_(all) {}
  ~SignalWaitLoop() override;

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
  Done probe() override {
    const auto status = signals_.device.link->read<abi::ManagementStatusRegister>();
    if (!status) return forward_error(status);
    return look();
  }
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

Status SignalWaitLoop::begin(bool may_sleep) {
  if (waits_.empty()) return fail(ErrorCode::kInvalidArgument, "a wait for no signal");
  signals_.lock.lock(signals_.device.platform.clock());
  const SpinLockHolder holder(signals_.lock);
  lowest_ = SIZE_MAX;
  for (const auto& wait : waits_) {
    if (auto ok = signals_.check(wait.signal); !ok) return ok;
    begins_.push_back({signals_.value(wait.signal), signals_.table[wait.signal.value].generation});
    lowest_ = std::min<std::size_t>(lowest_, wait.signal.value);
    highest_ = std::max<std::size_t>(highest_, wait.signal.value);
  }
  sleeps_ = may_sleep;
  if (sleeps_) ++signals_.sleepers;
  return {};
}

SignalWaitLoop::~SignalWaitLoop() {
  if (!sleeps_) return;
  signals_.lock.lock(signals_.device.platform.clock());
  const SpinLockHolder holder(signals_.lock);
  --signals_.sleepers;
}

bool SignalWaitLoop::is_met(std::size_t i) const {
  const auto& wait = waits_[i];
  const auto value = signals_.value(wait.signal);
  if (!wait.age) return value != signals_.table[wait.signal.value].taken;
  return value != (*wait.age == 0 ? begins_[i].value : *wait.age);
}

void SignalWaitLoop::take(std::size_t i) {
  auto& wait = waits_[i];
  auto& slot = signals_.table[wait.signal.value];
  const auto value = signals_.value(wait.signal);
  if (slot.auto_reset) slot.taken = value;
  if (wait.age && *wait.age != 0) wait.age = value;
}

bool SignalWaitLoop::look() {
  signals_.lock.lock(signals_.device.platform.clock());
  const SpinLockHolder holder(signals_.lock);
  std::size_t met = 0;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    if (signals_.table[waits_[i].signal.value].generation != begins_[i].generation) {
      error_ =
          fail(ErrorCode::kAborted, fmt::format("signal {} was destroyed", waits_[i].signal.value));
      return true;
    }
    if (!is_met(i)) continue;
    if (met++ == 0) first_met_ = i;
  }
  if (all_ ? met < waits_.size() : met == 0) return false;
  if (!all_) {
    take(first_met_);
  } else {
    for (std::size_t i = 0; i < waits_.size(); ++i) take(i);
  }
  return true;
}

// Nothing is known of how long it takes: spin as long as a sleep costs, then sleep.
Result<std::size_t> SignalWaitLoop::run(WaitPolicy policy) {
  if (auto ok = signals_.device.usable(); !ok) return forward_error(ok);
  auto known = check_choice("policy", policy, WaitPolicy::kAdaptive);
  if (!known) return forward_error(known);
  const bool may_sleep = signals_.vector != nullptr && policy != WaitPolicy::kPolling;
  if (auto ok = begin(may_sleep); !ok) return forward_error(ok);
  if (!look()) {
    WaitPlan plan;
    plan.kind = WaitPlan::Kind::kSpin;
    plan.spin_end = now() + signals_.device.options.adaptive.context_switch;
    const Done done = wait(policy, plan);
    if (!done) return forward_error(done);
    if (!*done) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("waited for {} of {} signals, among them {}", all_ ? "all" : "one",
                              waits_.size(), waits_[0].signal.value));
    }
  }
  if (!error_) return forward_error(error_);
  return first_met_;
}

}  // namespace

Result<std::size_t> Signals::wait_any(std::vector<SignalWait>& waits, WaitPolicy policy,
                                      Instant deadline) {
  return SignalWaitLoop(*impl_, waits, false, deadline).run(policy);
}

Status Signals::wait_all(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline) {
  const auto met = SignalWaitLoop(*impl_, waits, true, deadline).run(policy);
  return met ? Status() : forward_error(met);
}

Status Signals::wait(SignalId signal, WaitPolicy policy, Instant deadline) {
  std::vector<SignalWait> waits{{signal, std::nullopt}};
  return wait_all(waits, policy, deadline);
}

}  // namespace npu::driver
