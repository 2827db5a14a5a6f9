// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_removal.hpp"

#include <algorithm>

namespace npu::driver {

using abi::ManagementOpcode;
using abi::PreemptMode;

namespace {

constexpr Picoseconds kFirstLook = 2_us, kLongestPause = 1_ms;  // while a queue drains
// Behind a caller's deadline: for the card to say that the queue is idle, or to reset it.
constexpr Picoseconds kLastWord = 1_ms;

}  // namespace

RemovalLimits RemovalLimits::of(Instant now, Instant deadline, bool forced) {
  if (forced) return {deadline, Instant::never(), DeadlineOf::kDriver};
  return {deadline, std::max(deadline, now) + kLastWord, DeadlineOf::kCaller};
}

Instant QueueRemoval::next_deadline(const RemovalLimits& limits) const {
  return std::min(queues_.commands().deadline(), limits.end);
}

Result<QueueEnd> QueueRemoval::drain(QueueRecord& record, const RemovalLimits& limits) {
  for (auto pause = kFirstLook;; pause = std::min(2 * pause, kLongestPause)) {
    {
      const TimedMutexHolder holder(queues_.mutex(), limits.end);
      if (!holder) return queues_.commands().others_too_long();
      // It may be held although it should run.
      if (record.held == Held::kUnknown) {
        auto settled = queues_.evictions().apply(record, next_deadline(limits), limits.whose);
        if (!settled) return forward_error(settled);
      }
      const auto answer = queues_.commands().execute(
          queues_.commands().on_queue(ManagementOpcode::kQueryQueue, record), next_deadline(limits),
          limits.whose);
      if (!answer) return forward_error(answer);
      const bool in_flight = answer->state == abi::QueueState::kSuspended &&
                             queues_.evictions().is_interrupted(record);
      if (answer->state != abi::QueueState::kRunning && !in_flight) return QueueEnd::kDrained;
    }
    if (clock_.now() >= limits.drain) return QueueEnd::kReset;
    clock_.sleep_until(std::min(limits.drain, clock_.now() + pause));
  }
}

Status QueueRemoval::remove(QueueRecord& record, const RemovalLimits& limits,
                            const Result<QueueEnd>& drained) {
  if (limits.whose == DeadlineOf::kCaller) return remove_in_time(record, limits, drained);
  const bool is_drained = drained && *drained == QueueEnd::kDrained;
  return by_force(record, is_drained ? PreemptMode::kDrain : PreemptMode::kReset);
}

Result<ManagementAnswer> QueueRemoval::ask_to_remove(const QueueRecord& record,
                                                     const RemovalLimits& limits,
                                                     PreemptMode mode) {
  return queues_.commands().ring().execute(
      queues_.commands().on_queue(ManagementOpcode::kRemoveQueue, record, mode),
      next_deadline(limits), limits.whose);
}

// If the card has not answered before, the ring is restarted, but not behind the deadline.
Status QueueRemoval::remove_in_time(QueueRecord& record, const RemovalLimits& limits,
                                    const Result<QueueEnd>& drained) {
  if (!drained && clock_.now() < limits.drain) {
    static_cast<void>(queues_.commands().ring().restart(next_deadline(limits)));
  }
  const bool is_drained = drained && *drained == QueueEnd::kDrained;
  auto answer =
      ask_to_remove(record, limits, is_drained ? PreemptMode::kDrain : PreemptMode::kReset);
  const auto again = [&] {  // executed twice it does what it does once
    return answer ? answer->status == abi::ManagementStatus::kNotDrained
                  : answer.error().code == ErrorCode::kAborted;
  };
  while (again() && manager_.link().usable() && clock_.now() < limits.end) {
    const bool late = clock_.now() >= limits.drain;
    answer = ask_to_remove(record, limits,
                           is_drained && !late ? PreemptMode::kDrain : PreemptMode::kReset);
  }
  // An attempt that was given up has been executed.
  if (answer && answer->status == abi::ManagementStatus::kInvalidQueue) return {};
  const auto result = ProcessCommands::accepted(
      std::move(answer), static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue));
  return result ? Status() : forward_error(result);
}

Status QueueRemoval::by_force(QueueRecord& record, PreemptMode mode) {
  const RemovalLimits limits;
  auto& ring = queues_.commands().ring();
  const auto& link = manager_.link();
  const auto deadline = queues_.commands().deadline();
  const auto end = deadline + queues_.commands().timeout();
  auto answer = ask_to_remove(record, limits, mode);
  while (answer && answer->status == abi::ManagementStatus::kNotDrained) {
    const auto now = clock_.now();
    if (now >= end) break;
    answer = ask_to_remove(record, limits, now >= deadline ? PreemptMode::kReset : mode);
  }
  bool restarts = true;  // a card that does not take in a new ring answers nothing on it either
  for (int attempt = 0; attempt < 2 && !answer && !link.lost(); ++attempt) {
    if (answer.error().code != ErrorCode::kAborted) {
      restarts = ring.restart(queues_.commands().deadline()).has_value();
    }
    if (!restarts) break;
    answer = ask_to_remove(record, limits, PreemptMode::kReset);
  }
  // An attempt that was given up has been executed, or ADD_QUEUE never was.
  if (answer && answer->status == abi::ManagementStatus::kInvalidQueue) return {};
  if (!answer && restarts && !link.lost()) {
    static_cast<void>(ring.restart(queues_.commands().deadline()));  // for the others
  }
  const auto result = ProcessCommands::accepted(
      std::move(answer), static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue));
  if (result) return {};
  manager_.note_left_behind();
  record.id.lose();
  record.doorbell.lose();
  return forward_error(result);
}

}  // namespace npu::driver
