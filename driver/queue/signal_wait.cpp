// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/signal_wait.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/support/choice.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

Status SignalWaitLoop::begin(bool may_sleep) {
  if (waits_.empty()) return fail(ErrorCode::kInvalidArgument, "a wait for no signal");
  signals_.lock.lock(signals_.link.clock());
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
  signals_.lock.lock(signals_.link.clock());
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
  signals_.lock.lock(signals_.link.clock());
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

WaitLoop::Done SignalWaitLoop::probe() {
  if (signals_.link.closed()) {
    return fail(ErrorCode::kAborted, "the device is shut down");
  }
  const auto status = signals_.link.read<abi::ManagementStatusRegister>();
  if (!status) return forward_error(status);
  return look();
}

// Nothing is known of how long it takes: spin as long as a sleep costs, then sleep.
Result<std::size_t> SignalWaitLoop::run(WaitPolicy policy) {
  if (auto ok = signals_.link.usable(); !ok) return forward_error(ok);
  auto known = check_choice("policy", policy, WaitPolicy::kAdaptive);
  if (!known) return forward_error(known);
  const bool may_sleep = signals_.vector != nullptr && policy != WaitPolicy::kPolling;
  if (auto ok = begin(may_sleep); !ok) return forward_error(ok);
  if (!look()) {
    WaitPlan plan;
    plan.kind = WaitPlan::Kind::kSpin;
    plan.spin_end = now() + signals_.context_switch;
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

}  // namespace npu::driver
