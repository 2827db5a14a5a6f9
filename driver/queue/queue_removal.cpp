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

// Held, but only until compaction is over.
bool QueueRemoval::is_interrupted() const {
  return process_.compacting && process_.evictions == 1 && !record_.null_ring &&
         record_.percentage > 0 && !record_.suspended;
}

Result<QueueEnd> QueueRemoval::drain() {
  for (auto pause = kFirstLook;; pause = std::min(2 * pause, kLongestPause)) {
    {
      const TimedMutexHolder holder(*process_.mutex, limits_.end);
      if (!holder) return process_.others_too_long();
      // It may be held although it should run.
      if (record_.held == Held::kUnknown) {
        auto settled = process_.settle_record(record_, next_deadline(), limits_.whose);
        if (!settled) return forward_error(settled);
      }
      const auto answer =
          process_.command(process_.on_queue(ManagementOpcode::kQueryQueue, record_),
                           next_deadline(), limits_.whose);
      if (!answer) return forward_error(answer);
      const bool goes_on = answer->state == abi::QueueState::kSuspended && is_interrupted();
      if (answer->state != abi::QueueState::kRunning && !goes_on) return QueueEnd::kDrained;
    }
    if (clock().now() >= limits_.drain) return QueueEnd::kReset;
    clock().sleep_until(std::min(limits_.drain, clock().now() + pause));
  }
}

Status QueueRemoval::remove(const Result<QueueEnd>& drained) {
  if (limits_.whose == DeadlineOf::kCaller) return remove_in_time(drained);
  const bool is_drained = drained && *drained == QueueEnd::kDrained;
  return by_force(process_, record_, is_drained ? PreemptMode::kDrain : PreemptMode::kReset);
}

Result<ManagementAnswer> QueueRemoval::ask_to_remove(PreemptMode mode) {
  return process_.manager.ring().execute(
      process_.on_queue(ManagementOpcode::kRemoveQueue, record_, mode), next_deadline(),
      limits_.whose);
}

// If the card has not answered before, the ring is restarted, but not behind the deadline.
Status QueueRemoval::remove_in_time(const Result<QueueEnd>& drained) {
  if (!drained && clock().now() < limits_.drain) {
    static_cast<void>(process_.manager.ring().restart(next_deadline()));
  }
  const bool is_drained = drained && *drained == QueueEnd::kDrained;
  auto answer = ask_to_remove(is_drained ? PreemptMode::kDrain : PreemptMode::kReset);
  const auto again = [&] {  // executed twice it does what it does once
    return answer ? answer->status == abi::ManagementStatus::kNotDrained
                  : answer.error().code == ErrorCode::kAborted;
  };
  while (again() && process_.usable() && clock().now() < limits_.end) {
    const bool late = clock().now() >= limits_.drain;
    answer = ask_to_remove(is_drained && !late ? PreemptMode::kDrain : PreemptMode::kReset);
  }
  // An attempt that was given up has been executed.
  if (answer && answer->status == abi::ManagementStatus::kInvalidQueue) return {};
  const auto result = ProcessContext::Impl::accepted(
      std::move(answer), static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue));
  return result ? Status() : forward_error(result);
}

Status QueueRemoval::by_force(ProcessContext::Impl& process, QueueRecord& record,
                              PreemptMode mode) {
  QueueRemoval removal(process, record, RemovalLimits{});
  auto& ring = process.manager.ring();
  const auto& link = *process.device.link;
  const auto deadline = process.command_deadline();
  const auto end = deadline + process.options.command_timeout;
  auto answer = removal.ask_to_remove(mode);
  while (answer && answer->status == abi::ManagementStatus::kNotDrained) {
    const auto now = removal.clock().now();
    if (now >= end) break;
    answer = removal.ask_to_remove(now >= deadline ? PreemptMode::kReset : mode);
  }
  for (int attempt = 0; attempt < 2 && !answer && !link.lost(); ++attempt) {
    if (answer.error().code != ErrorCode::kAborted) {
      static_cast<void>(ring.restart(process.command_deadline()));
    }
    answer = removal.ask_to_remove(PreemptMode::kReset);
  }
  // An attempt that was given up has been executed, or ADD_QUEUE never was.
  if (answer && answer->status == abi::ManagementStatus::kInvalidQueue) return {};
  if (!answer && !link.lost()) {
    static_cast<void>(ring.restart(process.command_deadline()));  // for the others
  }
  const auto result = ProcessContext::Impl::accepted(
      std::move(answer), static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue));
  if (result) return {};
  process.manager.note_left_behind();
  record.id.lose();
  record.doorbell.lose();
  return forward_error(result);
}

}  // namespace npu::driver
