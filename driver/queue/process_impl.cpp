// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/process_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_parts.hpp"
#include "driver/queue/signals_impl.hpp"

namespace npu::driver {

using abi::ManagementOpcode;

namespace {

constexpr Picoseconds kSettling = 1_ms;  // behind a caller's deadline

}  // namespace

ProcessContext::Impl::Impl(Device& card, QueueManager& shared, const ProcessOptions& wanted)
    : link(shared.link()),
      memory(DeviceParts::memory(card)),
      features(DeviceParts::features(card)),
      manager(shared),
      options(wanted),
      resources(link.clock(), wanted.max_queues),
      commands(link.clock(), shared.ring(), resources.pasid, wanted.command_timeout),
      faults(link.clock()),
      queues(link.platform(), commands, resources.pasid),
      changes(shared, resources, queues),
      mapping(link, shared, commands, resources),
      removal(shared, queues),
      endings(shared, queues, removal, mapping, faults),
      builder_(shared, resources, DeviceParts::adaptive(card)) {}

ProcessContext::Impl::~Impl() {
  if (!closed_.load(std::memory_order_acquire)) static_cast<void>(close());
}

Status ProcessContext::Impl::open(Device& device) {
  if (auto ok = resources.open(device, manager, options); !ok) return ok;
  memory.add_stream(resources.vmid);
  manager.add_process(resources.pasid.value(), *this);
  registered_ = true;
  return {};
}

Status ProcessContext::Impl::enter() {
  const MutexHolder holder(queues.mutex());
  if (auto ok = usable(); !ok) return ok;
  handles_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status ProcessContext::Impl::begin_close() {
  const MutexHolder holder(queues.mutex());
  if (auto ok = usable(); !ok) return ok;
  if (const auto left = handles_.load(std::memory_order_acquire); left > 0) {
    return fail(ErrorCode::kBusy, fmt::format("the process has {} queues", left));
  }
  closed_.store(true, std::memory_order_release);
  return {};
}

// In the reverse order of open().
Status ProcessContext::Impl::close() {
  closed_.store(true, std::memory_order_release);
  if (registered_) {
    manager.collect_faults();  // before the PASID is another's
    manager.remove_process(resources.pasid.value());
    memory.remove_stream(resources.vmid);
    registered_ = false;
  }
  mapping.close();
  if (mapping.is_withheld()) {
    const MutexHolder holder(memory.mutex());
    memory.withhold(resources.vmid);
  }
  return resources.close(link);
}

Status ProcessContext::Impl::usable() const {
  if (closed_.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kInvalidArgument, "the process context is closed");
  }
  return link.usable();
}

// --- Creating a queue ------------------------------------------------------------------------

// Under the mutex.
Status ProcessContext::Impl::add_to_card(QueueRecord& record) {
  if (auto ok = mapping.map(); !ok) return ok;
  manager.write_descriptor(record.descriptor);
  auto add = commands.on_queue(ManagementOpcode::kAddQueue, record);
  add.address = manager.descriptor_address(record.id.value());
  const auto answer = commands.execute(add, commands.deadline());
  Status status =
      answer ? queues.evictions().apply(record, commands.deadline()) : forward_error(answer);
  if (status) return {};
  if (answer || may_be_done(answer.error())) {
    static_cast<void>(removal.by_force(record, abi::PreemptMode::kReset));
  }
  return status;
}

Result<std::unique_ptr<Queue>> ProcessContext::Impl::create(const QueueOptions& wanted) {
  auto draft = builder_.prepare(wanted);
  if (!draft) return link.explain(draft.error());
  auto& record = *draft->record;
  auto channel = std::make_unique<QueueChannel>(link, *this, std::move(draft->parts));
  record.channel = channel.get();
  const MutexHolder holder(queues.mutex());
  auto added = add_to_card(record);
  // Another task has restarted the ring. What may have been done was undone.
  if (!added && added.error().code == ErrorCode::kAborted) added = add_to_card(record);
  if (!added) {
    if (queues.table().empty()) mapping.unmap(Instant::never(), DeadlineOf::kDriver);
    return forward_error(added);
  }
  faults.add(record.queue_id(), *channel);
  queues.table().add(std::move(draft->record));
  manager.note_queues(1);
  return std::make_unique<Queue>(
      std::make_unique<Queue::Impl>(Queue::Impl{*this, std::move(channel)}));
}

// --- Compaction ------------------------------------------------------------------------------

Status ProcessContext::Impl::quiesce(Instant deadline) {
  const TimedMutexHolder holder(queues.mutex(), deadline);
  if (!holder) return commands.others_too_long();
  return queues.evictions().begin_compaction(deadline);
}

void ProcessContext::Impl::resume() {
  const MutexHolder holder(queues.mutex());
  queues.evictions().end_compaction();
}

// --- What queues ask -------------------------------------------------------------------------

// Not while compaction or another task has the log: there is a next look.
void ProcessContext::Impl::look_for_faults() {
  manager.collect_faults(link.clock().now());
  faults.deliver();
}

// The record of a fault comes before the answer, unless it was lost.
Status ProcessContext::Impl::ask_card(QueueId id) {
  if (auto ok = manager.ring().check_on(); !ok) return ok;
  if (faults.is_known_to(id)) return {};
  auto found = manager.read_fault(id);
  if (!found) return forward_error(found);
  if (!*found) return {};
  manager.collect_faults_behind_lost();
  if (!faults.is_known_to(id)) {
    (*found)->pasid = resources.pasid.value();
    faults.note(**found);
  }
  faults.deliver();
  return {};
}

// What runs of a queue at fault ends; SUSPEND is answered when that and its completions are done.
bool ProcessContext::Impl::await_stopped(QueueId id, Instant deadline) {
  const auto patient = commands.deadline();
  const auto limit = std::min(patient, std::max(deadline, link.clock().now()) + kSettling);
  const TimedMutexHolder holder(queues.mutex(), limit);
  auto* record = holder ? queues.table().find(id) : nullptr;
  if (record == nullptr || record->is_ending()) return false;
  const auto suspend = commands.on_queue(ManagementOpcode::kSuspend, *record);
  const bool answered = commands.execute(suspend, limit, DeadlineOf::kCaller).has_value();
  record->held = answered ? Held::kYes : Held::kUnknown;
  // If the card does not answer for so long, what is known has to do.
  return answered || limit == patient;
}

std::optional<std::uint64_t> ProcessContext::Impl::ask_read_index(QueueId id, Instant deadline) {
  const TimedMutexHolder holder(queues.mutex(), deadline);
  if (!holder) return std::nullopt;
  const auto* record = queues.table().find(id);
  if (record == nullptr || record->is_ending()) return std::nullopt;
  const auto asked = commands.on_queue(ManagementOpcode::kQueryQueue, *record);
  if (!commands.execute(asked, deadline, DeadlineOf::kCaller)) return std::nullopt;
  auto now = record->descriptor;
  if (!manager.read_card_half(now)) return std::nullopt;
  return now.read_index;
}

}  // namespace npu::driver
