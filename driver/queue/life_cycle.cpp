// SPDX-License-Identifier: Apache-2.0
// ProcessContext: creating and destroying queues. A step that fails leaves nothing behind: what was
// made before it goes away with its owner, in reverse order.
#include <fmt/format.h>

#include <algorithm>

#include "driver/queue/process_impl.hpp"
#include "driver/queue/queue_removal.hpp"
#include "driver/queue/signals_impl.hpp"
#include "driver/support/choice.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::driver {

using abi::ManagementOpcode;
using abi::PreemptMode;

namespace {

// Of a command that failed: whether the card may have executed it nevertheless.
bool may_be_done(const Error& error) {
  return error.code != ErrorCode::kBadDevice && error.code != ErrorCode::kQueueFull;
}

bool is_log2_ring(unsigned v) {
  return v >= abi::kMinLog2Ring && v <= abi::kMaxLog2Ring;
}

Status invalid(std::string what) {
  return fail(ErrorCode::kInvalidArgument, std::move(what));
}

}  // namespace

struct ProcessContext::Impl::Draft {
  std::unique_ptr<QueueRecord> record;
  QueueChannelParts parts;
};

Status ProcessContext::Impl::check_options(const QueueOptions& wanted) const {
  const auto completions =
      wanted.log2_completions == 0 ? wanted.ring.log2_entries : wanted.log2_completions;
  for (const auto& [field, memory] : {std::pair("ring.memory", wanted.ring.memory),
                                      std::pair("completion_memory", wanted.completion_memory)}) {
    if (auto ok = check_choice(field, memory, QueueMemory::kDevice); !ok) return ok;
  }
  if (!is_log2_ring(wanted.ring.log2_entries)) {
    return invalid(fmt::format("a ring of 2^{} entries, {} .. {} are possible",
                               wanted.ring.log2_entries, abi::kMinLog2Ring, abi::kMaxLog2Ring));
  }
  if (!is_log2_ring(completions) || completions < wanted.ring.log2_entries) {
    return invalid(fmt::format("2^{} completions for a ring of 2^{} entries", completions,
                               wanted.ring.log2_entries));
  }
  auto ok = check_scheduling(wanted.priority, wanted.percentage, wanted.quantum, wanted.core_mask);
  if (!ok) return ok;
  const auto cores = cores_of(wanted.core_mask);
  return cores ? Status() : forward_error(cores);
}

// What needs no lock: memory, ids, the descriptor.
Result<ProcessContext::Impl::Draft> ProcessContext::Impl::prepare(const QueueOptions& wanted) {
  if (auto ok = check_options(wanted); !ok) return forward_error(ok);
  Draft draft;
  draft.record = std::make_unique<QueueRecord>();
  auto& record = *draft.record;
  auto& parts = draft.parts;
  record.options = wanted;
  const auto id = manager.queue_ids().allocate();
  if (!id) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} queue ids of the card in use", abi::kMaxQueues));
  }
  record.id = PooledId(manager.queue_ids(), *id);
  const auto doorbell = doorbells.allocate();
  if (!doorbell) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} doorbells of the process in use", doorbells.capacity()));
  }
  record.doorbell = PooledId(doorbells, *doorbell);
  parts.id = record.queue_id();
  parts.device_index = device.card.device_index;
  parts.doorbells = doorbell_page.get();
  parts.doorbell = static_cast<std::uint16_t>(*doorbell);
  parts.log2_ring = wanted.ring.log2_entries;
  parts.log2_completions =
      wanted.log2_completions == 0 ? wanted.ring.log2_entries : wanted.log2_completions;
  parts.adaptive = device.options.adaptive;
  const auto make = [&](QueueMemory memory, Bytes size) {
    return QueueBuffer::create(device, *heap, pasid.value(), memory, size);
  };
  auto ring = make(wanted.ring.memory, Bytes{abi::kQueueEntrySize} << parts.log2_ring);
  if (!ring) return forward_error(ring);
  parts.ring = std::move(*ring);
  auto completions =
      make(wanted.completion_memory, Bytes{abi::kQueueCompletionSize} << parts.log2_completions);
  if (!completions) return forward_error(completions);
  parts.completions = std::move(*completions);
  if (wanted.indices_in_memory) {
    auto indices = make(QueueMemory::kHost, 16);
    if (!indices) return forward_error(indices);
    parts.indices = std::move(*indices);
  }
  const auto number =
      wanted.process_vector ? vector_number : manager.vector_number(*id + abi::kVmids);
  const auto opened = manager.open_vector(number);
  if (!opened) return forward_error(opened);
  if (wanted.interrupt) parts.vector = *opened;
  record.descriptor.vector = static_cast<std::uint16_t>(number);
  fill_descriptor(record, parts);
  return draft;
}

void ProcessContext::Impl::fill_descriptor(QueueRecord& record, const QueueChannelParts& parts) {
  const auto& wanted = record.options;
  auto& mqd = record.descriptor;
  unsigned flags = abi::kQueueSignalHost;
  if (parts.ring.in_host_memory()) flags |= abi::kQueueRingHost;
  if (parts.completions.in_host_memory()) flags |= abi::kQueueCompletionHost;
  if (wanted.in_order) flags |= abi::kQueueInOrder;
  mqd.ring_base = parts.ring.address();
  mqd.completion_base = parts.completions.address();
  if (parts.indices) {
    flags |= abi::kQueueIndexHost;
    mqd.read_index_address = parts.indices.address();
    mqd.write_index_address = parts.indices.address() + 8;
  }
  mqd.flags = static_cast<std::uint16_t>(flags);
  mqd.queue_id = record.id.value();
  mqd.signal_base = signals->impl().bus_address();
  mqd.signal_slots = signals->capacity();
  mqd.save_area = wanted.preemptible ? manager.save_area(record.id.value()) : 0;
  mqd.log2_ring = static_cast<std::uint8_t>(parts.log2_ring);
  mqd.log2_completions = static_cast<std::uint8_t>(parts.log2_completions);
  mqd.vmid = static_cast<std::uint8_t>(vmid);
  mqd.priority = static_cast<std::uint8_t>(wanted.priority);
  mqd.doorbell = parts.doorbell;
  mqd.pasid = pasid.value();
  mqd.quantum_us = static_cast<std::uint32_t>(wanted.quantum.count() / 1'000'000);
  record.percentage = wanted.percentage;
  mqd.percentage = static_cast<std::uint8_t>(wanted.percentage == 0 ? 100 : wanted.percentage);
  mqd.core_mask = *cores_of(wanted.core_mask);
}

// Under the mutex, as those below.
Status ProcessContext::Impl::map_process() {
  if (unmapping) {
    if (!tell_to_forget(command_deadline(), DeadlineOf::kDriver)) {
      return fail(ErrorCode::kTimeout, "the card has not yet forgotten the process");
    }
    mapped = unmapping = false;
    manager.note_mapped(-1);
  }
  if (mapped) return {};
  abi::ManagementCommand map;
  map.opcode = static_cast<std::uint8_t>(ManagementOpcode::kMapProcess);
  map.pasid = pasid.value();
  map.vmid = static_cast<std::uint8_t>(vmid);
  map.page = page.value();
  map.vector = vector_number;
  const auto answer = command(map, command_deadline());
  if (answer) {
    mapped = true;
    signals->impl().connect(true);
    manager.note_mapped(1);
    return {};
  }
  if (may_be_done(answer.error())) static_cast<void>(forget_process());
  return forward_error(answer);
}

// False: the card may still know its ids.
bool ProcessContext::Impl::tell_to_forget(Instant deadline, DeadlineOf whose) {
  signals->impl().connect(false);
  abi::ManagementCommand unmap;
  unmap.opcode = static_cast<std::uint8_t>(ManagementOpcode::kUnmapProcess);
  unmap.pasid = pasid.value();
  auto answer = manager.ring().execute(unmap, deadline, whose);
  if (!answer && answer.error().code == ErrorCode::kAborted) {
    answer = manager.ring().execute(unmap, deadline, whose);
  }
  // It may not know the process: an attempt that was given up has been executed.
  return answer && (answer->status == abi::ManagementStatus::kSuccess ||
                    answer->status == abi::ManagementStatus::kInvalidProcess);
}

// False: nobody else may have its ids.
bool ProcessContext::Impl::forget_process() {
  if (tell_to_forget(command_deadline(), DeadlineOf::kDriver)) return true;
  manager.note_left_behind();
  if (!device.link->lost()) {
    page.lose();
    pasid.lose();
    withheld = true;
  }
  return false;
}

// What has no answer in time is repeated by the next queue, or by the end of the process.
void ProcessContext::Impl::unmap_if_last(const RemovalLimits& limits) {
  if (!mapped || !queues.empty()) return;
  unmapping = true;
  if (limits.whose == DeadlineOf::kDriver) {
    static_cast<void>(forget_process());
  } else if (!tell_to_forget(std::min(command_deadline(), limits.end), limits.whose)) {
    return;
  }
  mapped = unmapping = false;
  manager.note_mapped(-1);
}

Status ProcessContext::Impl::add_to_card(QueueRecord& record) {
  if (auto ok = map_process(); !ok) return ok;
  manager.write_descriptor(record.descriptor);
  auto add = on_queue(ManagementOpcode::kAddQueue, record);
  add.address = manager.descriptor_address(record.id.value());
  const auto answer = command(add, command_deadline());
  Status status = answer ? settle_record(record, command_deadline()) : forward_error(answer);
  if (status) return {};
  if (answer || may_be_done(answer.error()))
    static_cast<void>(QueueRemoval::by_force(*this, record, PreemptMode::kReset));
  return status;
}

// The caller has entered, and leaves after an error.
Result<std::unique_ptr<Queue>> ProcessContext::Impl::create(const QueueOptions& wanted) {
  auto draft = prepare(wanted);
  if (!draft) return forward_error(draft);
  auto& record = *draft->record;
  auto channel = std::make_unique<QueueChannel>(*device.link, *this, std::move(draft->parts));
  record.channel = channel.get();
  const MutexHolder holder(*mutex);
  auto added = add_to_card(record);
  // Another task has restarted the ring. What may have been done was undone.
  if (!added && added.error().code == ErrorCode::kAborted) added = add_to_card(record);
  if (!added) {
    unmap_if_last(RemovalLimits{});
    return forward_error(added);
  }
  {
    fault_lock.lock(device.platform.clock());
    const SpinLockHolder faults_holder(fault_lock);
    channels.emplace_back(record.queue_id(), channel.get());
  }
  const auto behind =
      std::upper_bound(queues.begin(), queues.end(), record.id.value(),
                       [](std::uint32_t id, const auto& other) { return id < other->id.value(); });
  queues.insert(behind, std::move(draft->record));
  manager.note_queues(1);
  return std::make_unique<Queue>(
      std::make_unique<Queue::Impl>(Queue::Impl{*this, std::move(channel)}));
}

// --- The end ---------------------------------------------------------------------------------

// Under the mutex. Debugged queues stay (queues.md C1).
Result<QueueRecord*> ProcessContext::Impl::begin_destroy(const QueueChannel& channel, bool forced) {
  const auto id = channel.id();
  auto* record = find(id);
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

std::uint64_t ProcessContext::Impl::count_resumptions() {
  const MutexHolder holder(*resume_mutex);
  return resumptions;
}

void ProcessContext::Impl::note_resumption() {
  const MutexHolder holder(*resume_mutex);
  ++resumptions;
  resumed->notify_all();
}

// Not under the mutex. While it waits the queue may become another one, or go.
Result<QueueRecord*> ProcessContext::Impl::wait_to_destroy(const QueueChannel& channel,
                                                           Instant deadline,
                                                           const RemovalLimits& limits,
                                                           bool forced) {
  for (bool late = false;;) {
    const auto seen = count_resumptions();
    {
      const TimedMutexHolder holder(*mutex, limits.end);
      if (!holder) return others_too_long();
      const auto found = begin_destroy(channel, forced);
      if (!found || *found != nullptr) return found;
    }
    if (late) {
      return fail(ErrorCode::kBusy,
                  fmt::format("queue {} is suspended; resume it first", channel.id().value));
    }
    const MutexHolder holder(*resume_mutex);
    while (!late && resumptions == seen) late = !resumed->wait(*resume_mutex, deadline);
  }
}

// Under the mutex.
std::unique_ptr<QueueRecord> ProcessContext::Impl::take_out(const QueueRecord& record,
                                                            const RemovalLimits& limits) {
  const auto is_it = [&](const auto& other) { return other.get() == &record; };
  const auto found = std::find_if(queues.begin(), queues.end(), is_it);
  auto taken = std::move(*found);
  queues.erase(found);
  entries_gone += taken->channel->counters().entries;
  manager.note_queues(-1);
  unmap_if_last(limits);
  return taken;
}

void ProcessContext::Impl::forget_channel(const QueueChannel& channel) {
  if (auto* const hook = turn.load(); hook != nullptr) hook->forget(channel);
  fault_lock.lock(device.platform.clock());
  const SpinLockHolder holder(fault_lock);
  const auto is_it = [&](const auto& known) { return known.second == &channel; };
  channels.erase(std::remove_if(channels.begin(), channels.end(), is_it), channels.end());
}

// Under the mutex. Nothing taken: the card has not answered in time, and a later call goes on here.
Status ProcessContext::Impl::finish_destroy(QueueRecord& record, const Result<QueueEnd>& drained,
                                            const RemovalLimits& limits,
                                            std::unique_ptr<QueueRecord>& taken) {
  auto removed = QueueRemoval(*this, record, limits).remove(drained);
  record.channel->close();
  if (!removed && limits.whose == DeadlineOf::kCaller && !device.link->lost()) {
    record.leaving = true;
    record.dying = false;
    return fail(removed.error().code,
                fmt::format("queue {} takes nothing more, and is gone when a later call or the end "
                            "of its handle has removed it: {}",
                            record.id.value(), removed.error().context));
  }
  if (!drained || *drained == QueueEnd::kReset) {
    manager.counters().resets.fetch_add(1, std::memory_order_relaxed);
  }
  taken = take_out(record, limits);
  return removed;
}

Result<QueueEnd> ProcessContext::Impl::destroy(QueueChannel& channel, Instant deadline,
                                               bool forced) {
  // While it is off the card it would not be waited for.
  if (auto* const hook = turn.load(); hook != nullptr) {
    static_cast<void>(hook->settle(channel, deadline));
  }
  const auto within = RemovalLimits::of(device.platform.clock().now(), deadline, forced);
  const auto found = wait_to_destroy(channel, deadline, within, forced);
  if (!found) return forward_error(found);
  auto* const record = *found;
  const auto end = record->leaving
                       ? Result<QueueEnd>(fail(ErrorCode::kTimeout, "told to go before"))
                       : QueueRemoval(*this, *record, within).drain();
  std::unique_ptr<QueueRecord> taken;
  Status removed;
  {
    const TimedMutexHolder holder(*mutex, within.end);
    if (!holder) {
      record->dying = false;
      return others_too_long();
    }
    removed = finish_destroy(*record, end, within, taken);
  }
  if (!taken) return forward_error(removed);
  // Its faults must have been read before its id is another's.
  manager.collect_faults();
  forget_channel(channel);
  taken.reset();
  channel.give_back_ring();  // without the mutex, which compaction takes under those of memory
  if (!removed) return forward_error(removed);
  return end && *end == QueueEnd::kDrained ? QueueEnd::kDrained : QueueEnd::kReset;
}

// By reset; those that another task destroys are its business. A card that does not answer once is
// not asked again.
void ProcessContext::Impl::give_up() {
  const MutexHolder holder(*mutex);
  Status status;
  for (const auto& record : queues) {
    if (record->dying) continue;
    record->dying = true;
    if (status && !device.link->lost())
      status = QueueRemoval::by_force(*this, *record, PreemptMode::kReset);
    record->channel->close();
    forget_channel(*record->channel);
  }
  if (!status || device.link->lost()) {
    manager.note_left_behind();
  } else if (mapped) {
    static_cast<void>(forget_process());
  }
}

}  // namespace npu::driver
