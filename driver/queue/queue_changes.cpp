// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_changes.hpp"

#include <fmt/format.h>

#include "driver/queue/queue_builder.hpp"
#include "driver/support/choice.hpp"

namespace npu::driver {

using abi::ManagementOpcode;

namespace {

using Ring = QueueChange::Ring;

Status check(const QueueChange& change) {
  if (auto ok = check_choice("ring_change", change.ring_change, Ring::kReplace); !ok) return ok;
  if (auto ok = check_choice("ring.memory", change.ring.memory, QueueMemory::kDevice); !ok)
    return ok;
  const auto log2 = change.ring.log2_entries;
  if (change.ring_change == Ring::kReplace &&
      (log2 < abi::kMinLog2Ring || log2 > abi::kMaxLog2Ring)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a ring of 2^{} entries", log2));
  }
  return check_scheduling(change.priority.value_or(0), change.percentage.value_or(0),
                          change.quantum.value_or(Picoseconds()),
                          change.core_mask.value_or(kAllCores));
}

}  // namespace

Status QueueChanges::update(QueueId id, const QueueChange& change) {
  if (auto ok = check(change); !ok) return ok;
  const auto cores = process_.group.within(change.core_mask.value_or(kAllCores));
  if (!cores) return forward_error(cores);
  QueueBuffer ring;
  if (change.ring_change == Ring::kReplace) {
    auto made = QueueBuffer::create(manager_.link(), *process_.heap, process_.pasid.value(),
                                    change.ring.memory,
                                    Bytes{abi::kQueueEntrySize} << change.ring.log2_entries);
    if (!made) return forward_error(made);
    ring = std::move(*made);
  }
  const MutexHolder holder(queues_.mutex());
  auto* record = queues_.table().find(id);
  if (record == nullptr) return queues_.commands().no_queue(id);
  if (record->is_ending()) {
    return fail(ErrorCode::kBusy, fmt::format("queue {} is being destroyed", id.value));
  }
  if (record->channel->faulted()) {
    return fail(ErrorCode::kDeviceFault, fmt::format("queue {} has stopped", id.value));
  }
  if (change.ring_change == Ring::kReplace &&
      change.ring.log2_entries > record->descriptor.log2_completions) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {}: a ring of 2^{} entries for 2^{} completions", id.value,
                            change.ring.log2_entries, record->descriptor.log2_completions));
  }
  if (auto ok = quiesce(*record); !ok) return ok;
  const auto changed = change_quiesced(*record, change, ring);
  const auto settled = queues_.evictions().apply(*record, queues_.commands().deadline());
  return changed ? settled : changed;
}

// Whatever it should do: its descriptor is to be written.
Status QueueChanges::quiesce(QueueRecord& record) {
  if (record.held == Held::kYes) return {};
  const auto suspend = queues_.commands().on_queue(ManagementOpcode::kSuspend, record);
  const auto answer = queues_.commands().execute(suspend, queues_.commands().deadline());
  if (answer) {
    record.held = Held::kYes;
    return {};
  }
  record.held = Held::kUnknown;
  static_cast<void>(queues_.evictions().apply(record, queues_.commands().deadline()));
  return forward_error(answer);
}

// The card is not looking. `ring` is the old one afterwards.
Status QueueChanges::change_quiesced(QueueRecord& record, const QueueChange& change,
                                     QueueBuffer& ring) {
  auto& mqd = record.descriptor;
  if (change.ring_change == Ring::kReplace) {
    const auto answer = queues_.commands().execute(
        queues_.commands().on_queue(ManagementOpcode::kQueryQueue, record),
        queues_.commands().deadline());
    if (!answer) return forward_error(answer);
    auto now = mqd;
    if (auto ok = manager_.read_card_half(now); !ok) return ok;
    if (auto ok = record.channel->replace_ring(ring, change.ring.log2_entries, now.read_index);
        !ok) {
      return ok;
    }
    mqd.ring_base = record.channel->ring().address();
    mqd.log2_ring = static_cast<std::uint8_t>(change.ring.log2_entries);
    const unsigned others = mqd.flags & ~unsigned{abi::kQueueRingHost};
    const bool host = change.ring.memory == QueueMemory::kHost;
    mqd.flags = static_cast<std::uint16_t>(others | (host ? abi::kQueueRingHost : 0U));
    record.options.ring = change.ring;
  }
  if (change.ring_change != Ring::kKeep) record.null_ring = change.ring_change == Ring::kNullRing;
  if (change.priority) mqd.priority = static_cast<std::uint8_t>(*change.priority);
  if (change.percentage) record.percentage = *change.percentage;
  if (record.percentage > 0) mqd.percentage = static_cast<std::uint8_t>(record.percentage);
  if (change.quantum) {
    mqd.quantum_us = static_cast<std::uint32_t>(change.quantum->count() / 1'000'000);
  }
  if (change.core_mask) mqd.core_mask = *process_.group.within(*change.core_mask);
  manager_.write_driver_half(mqd);
  return {};
}

Result<QueueStatus> QueueChanges::query(QueueRecord& record) {
  const auto answer =
      queues_.commands().execute(queues_.commands().on_queue(ManagementOpcode::kQueryQueue, record),
                                 queues_.commands().deadline());
  if (!answer) return forward_error(answer);
  auto mqd = record.descriptor;
  if (auto ok = manager_.read_card_half(mqd); !ok) return forward_error(ok);
  QueueStatus status;
  status.id = record.queue_id();
  status.state = static_cast<abi::QueueState>(mqd.state);
  status.faulted = status.state == abi::QueueState::kFaulted;
  status.active = queues_.evictions().is_active(record) && !status.faulted;
  status.null_ring = record.null_ring;
  status.suspended = record.suspended;
  status.evictions = queues_.evictions().count();
  status.ring = record.options.ring;
  status.ring_base = mqd.ring_base;
  status.completion_base = mqd.completion_base;
  status.priority = mqd.priority;
  status.percentage = record.percentage;
  status.core_mask = mqd.core_mask;
  status.doorbell = mqd.doorbell;
  status.read_index = mqd.read_index;
  status.write_index = mqd.write_index;
  status.completion_index = mqd.completion_index;
  status.completed = mqd.completed;
  status.error = static_cast<abi::FaultCode>(mqd.error);
  status.error_index = mqd.error_index;
  status.error_address = mqd.error_address;
  status.active_time = Picoseconds(static_cast<std::int64_t>(mqd.active_ns) * 1000);
  status.maps = mqd.maps;
  status.preemptions = mqd.preemptions;
  status.doorbells = mqd.doorbells;
  return status;
}

// What the card has made of a command that it did not answer is open; then the opposite, which may
// be late, is on its way behind it.
std::vector<QueueResult> QueueChanges::set_suspended(const std::vector<QueueId>& ids,
                                                     bool suspended, Instant deadline) {
  std::vector<QueueResult> results(ids.size(), QueueResult::kDone);
  std::vector<abi::ManagementCommand> wanted;
  std::vector<std::pair<std::size_t, QueueRecord*>> told;
  const TimedMutexHolder holder(queues_.mutex(), deadline);
  if (!holder) return std::vector<QueueResult>(ids.size(), QueueResult::kError);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto* record = queues_.table().find(ids[i]);
    if (record == nullptr || record->is_ending()) {
      results[i] = record == nullptr ? QueueResult::kInvalid : QueueResult::kBusy;
      continue;
    }
    record->suspended = suspended;
    const bool hold = !queues_.evictions().is_active(*record);
    if (record->is_known(hold)) continue;
    // Whether it will be is for the answer; the same id may be there twice.
    record->held = hold ? Held::kYes : Held::kNo;
    wanted.push_back(queues_.commands().on_queue(
        hold ? ManagementOpcode::kSuspend : ManagementOpcode::kResume, *record));
    told.emplace_back(i, record);
  }
  const auto answers = queues_.commands().execute(wanted, deadline, DeadlineOf::kCaller);
  for (std::size_t i = 0; i < told.size(); ++i) {
    auto& record = *told[i].second;
    if (answers[i]) {
      record.note_held(record.held == Held::kYes);
      continue;
    }
    results[told[i].first] = QueueResult::kError;
    record.suspended = !suspended;
    record.held = Held::kUnknown;
    static_cast<void>(queues_.evictions().apply(record, deadline, DeadlineOf::kCaller));
  }
  if (!suspended) queues_.resumptions().note();
  return results;
}

}  // namespace npu::driver
