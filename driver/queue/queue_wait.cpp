// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_wait.hpp"

#include <fmt/format.h>

namespace npu::driver {

bool QueueWait::look() {
  seen_ = parts_.completions.head();
  result_ = channel_.look(ticket_, deadline_);
  return !result_ || *result_;
}

ConstByteSpan QueueWait::watched() const {
  if (parts_.completions.head() != seen_) return {};
  return parts_.completions.next();
}

WaitLoop::Done QueueWait::probe() {
  seen_ = parts_.completions.head();
  result_ = channel_.look_with_card(ticket_, deadline_);
  return !result_ || *result_;
}

Status QueueWait::run(WaitPolicy policy) {
  auto& counters = parts_.counters;
  if (look()) return result_ ? Status() : Status(forward_error(result_));
  const bool can_sleep = ticket_.interrupt && parts_.vector != nullptr;
  if (policy == WaitPolicy::kInterrupt && !can_sleep) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("queue {} or its entry has no interrupt", channel_.id().value));
  }
  const bool planned = policy == WaitPolicy::kAdaptive && can_sleep;
  const auto plan = planned ? parts_.history.plan(ticket_) : WaitPlan{};
  const Done done = wait(policy, plan);
  if (!done) return forward_error(done);
  if (!*done) {
    counters.timeouts.fetch_add(1, kRelaxed);
    return fail(ErrorCode::kTimeout,
                fmt::format("queue {}: entry {} is not complete, the card has taken {}",
                            channel_.id().value, ticket_.index, parts_.completions.read_index()));
  }
  auto& counter = found_by_probe_       ? counters.missed
                  : woken_by_interrupt_ ? counters.slept
                                        : counters.spun;
  counter.fetch_add(1, kRelaxed);
  if (!result_) return forward_error(result_);
  if (planned && !found_by_probe_) {
    parts_.history.learn(ticket_, woken_by_interrupt_, plan.is_long);
  }
  return {};
}

}  // namespace npu::driver
