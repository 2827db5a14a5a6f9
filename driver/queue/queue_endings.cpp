// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_endings.hpp"

#include <fmt/format.h>

namespace npu::driver {

using abi::PreemptMode;

// Under the mutex. Debugged queues stay (queues.md C1).
Result<QueueRecord*> QueueEndings::begin(const QueueChannel& channel, bool forced) {
  const auto id = channel.id();
  auto* record = queues_.table().find(id);
  if (record == nullptr || record->channel != &channel) {
    return fail(ErrorCode::kNotFound, fmt::format("queue {} was destroyed already", id.value));
  }
  if (record->dying) {
    return fail(ErrorCode::kBusy, fmt::format("queue {} is being destroyed", id.value));
  }
  if (!forced && record->suspended) return nullptr;
  record->dying = true;
  return record;
}

// Not under the mutex. While it waits the queue may become another one, or go.
Result<QueueRecord*> QueueEndings::wait_to_begin(const QueueChannel& channel, Instant deadline,
                                                 const RemovalLimits& limits, bool forced) {
  for (bool late = false;;) {
    const auto seen = queues_.resumptions().count();
    {
      const TimedMutexHolder holder(queues_.mutex(), limits.end);
      if (!holder) return queues_.commands().others_too_long();
      const auto found = begin(channel, forced);
      if (!found || *found != nullptr) return found;
    }
    if (late) {
      return fail(ErrorCode::kBusy,
                  fmt::format("queue {} is suspended; resume it first", channel.id().value));
    }
    late = !queues_.resumptions().wait_after(seen, deadline);
  }
}

// Under the mutex.
std::unique_ptr<QueueRecord> QueueEndings::take_out(const QueueRecord& record,
                                                    const RemovalLimits& limits) {
  auto taken = queues_.table().take(record);
  manager_.note_queues(-1);
  if (queues_.table().empty()) mapping_.unmap(limits.end, limits.whose);
  return taken;
}

void QueueEndings::forget_channel(const QueueChannel& channel) {
  if (auto* const hook = queues_.time_slices(); hook != nullptr) hook->forget(channel);
  faults_.remove(channel);
}

// Under the mutex. Nothing taken: the card has not answered in time, and a later call goes on here.
Status QueueEndings::finish(QueueRecord& record, const Result<QueueEnd>& drained,
                            const RemovalLimits& limits, std::unique_ptr<QueueRecord>& taken) {
  auto removed = removal_.remove(record, limits, drained);
  record.channel->close();
  if (!removed && limits.whose == DeadlineOf::kCaller && !manager_.link().lost()) {
    record.leaving = true;
    record.dying = false;
    return fail(removed.error().code,
                fmt::format("queue {} takes nothing more, and is gone when a later call or the end "
                            "of its handle has removed it: {}",
                            record.id.value(), removed.error().context));
  }
  if (!drained || *drained == QueueEnd::kReset) {
    manager_.counters().resets.fetch_add(1, std::memory_order_relaxed);
  }
  taken = take_out(record, limits);
  return removed;
}

Result<QueueEnd> QueueEndings::destroy(QueueChannel& channel, Instant deadline, bool forced) {
  // While it is off the card it would not be waited for.
  if (auto* const hook = queues_.time_slices(); hook != nullptr) {
    static_cast<void>(hook->drain(channel, deadline));
  }
  const auto within = RemovalLimits::of(manager_.link().clock().now(), deadline, forced);
  const auto found = wait_to_begin(channel, deadline, within, forced);
  if (!found) return forward_error(found);
  auto* const record = *found;
  const auto end = record->leaving
                       ? Result<QueueEnd>(fail(ErrorCode::kTimeout, "told to go before"))
                       : removal_.drain(*record, within);
  std::unique_ptr<QueueRecord> taken;
  Status removed;
  {
    const TimedMutexHolder holder(queues_.mutex(), within.end);
    if (!holder) {
      record->dying = false;
      return queues_.commands().others_too_long();
    }
    removed = finish(*record, end, within, taken);
  }
  if (!taken) return forward_error(removed);
  // Its faults must have been read before its id is another's.
  manager_.collect_faults();
  forget_channel(channel);
  taken.reset();
  channel.give_back_ring();  // without the mutex, which compaction takes under those of memory
  if (!removed) return forward_error(removed);
  return end && *end == QueueEnd::kDrained ? QueueEnd::kDrained : QueueEnd::kReset;
}

// By reset; those that another task destroys are its business. A card that does not answer once is
// not asked again.
void QueueEndings::give_up() {
  const MutexHolder holder(queues_.mutex());
  Status status;
  for (const auto& record : queues_.table().records()) {
    if (record->dying) continue;
    record->dying = true;
    if (status && !manager_.link().lost()) status = removal_.by_force(*record, PreemptMode::kReset);
    record->channel->close();
    forget_channel(*record->channel);
  }
  if (!status || manager_.link().lost()) {
    manager_.note_left_behind();
  } else if (mapping_.is_mapped()) {
    static_cast<void>(mapping_.forget());
  }
}

}  // namespace npu::driver
