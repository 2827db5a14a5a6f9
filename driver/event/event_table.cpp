// SPDX-License-Identifier: Apache-2.0
#include "driver/event/event_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "driver/event/wait_loop.hpp"

namespace npu::driver {

EventTable::EventTable(CardLink& link, std::unique_ptr<platform::DmaMemory> records,
                       std::uint32_t count)
    : link_(link), records_(std::move(records)), slots_(count) {
  free_.reserve(count);
  for (std::uint32_t id = count; id-- > 0;) free_.push_back(id);
}

Result<EventId> EventTable::create() {
  if (free_.empty()) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} events in use, {} of them retired after a fault", slots_.size(),
                            retired_.size()));
  }
  const std::uint32_t id = free_.back();
  if (auto ok = synchronise(id); !ok) return forward_error(ok);
  free_.pop_back();
  slots_[id].owner.store(kUnowned, std::memory_order_relaxed);
  slots_[id].used.store(true, std::memory_order_release);
  return EventId{id};
}

// The counter goes on from wherever an earlier user left it. Nothing is in flight for the event,
// so its record in host memory may be written here.
Status EventTable::synchronise(std::uint32_t id) {
  const auto raw = link_.read_event(id);
  if (!raw) return forward_error(raw);
  records_->store<std::uint64_t>(Bytes{id} * 8, *raw);
  slots_[id].promised.store(abi::EventRecord{*raw}.count(), std::memory_order_relaxed);
  return {};
}

Status EventTable::destroy(EventId event) {
  if (!exists(event)) return fail(ErrorCode::kNotFound, fmt::format("event {}", event.value));
  auto& slot = slots_[event.value];
  auto record = load(event);
  const auto promised = slot.promised.load(std::memory_order_relaxed);
  if (!abi::event_reached(record.count(), promised)) {
    // The card could not write the record while bus mastering was off.
    const auto raw = link_.read_event(event.value);
    if (raw) record = abi::EventRecord{*raw};
    if (!raw && !link_.lost()) return forward_error(raw);
  }
  if (!link_.lost() && !abi::event_reached(record.count(), promised)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("event {} is at {} and has been promised {}", event.value,
                            record.count(), promised));
  }
  slot.used.store(false, std::memory_order_release);
  if (record.fault() != abi::FaultCode::kNone) {
    retired_.push_back(event.value);
  } else {
    free_.insert(std::upper_bound(free_.begin(), free_.end(), event.value, std::greater<>()),
                 event.value);
  }
  return {};
}

Status EventTable::reset() {
  free_.insert(free_.end(), retired_.begin(), retired_.end());
  std::sort(free_.begin(), free_.end(), std::greater<>());
  retired_.clear();
  for (std::uint32_t id = 0; id < slots_.size(); ++id) {
    if (!slots_[id].used.load(std::memory_order_relaxed)) continue;
    if (auto ok = synchronise(id); !ok) return ok;
  }
  return {};
}

bool EventTable::may_ask(EventId event, Instant now) {
  auto& at = slots_[event.value].ask_at;
  if (now.since_power_up().count() < at.load(std::memory_order_relaxed)) return false;
  at.store((now + kFirstProbe).since_power_up().count(), std::memory_order_relaxed);
  return true;
}

std::uint32_t EventTable::promise(EventId event, StreamId stream) {
  auto& slot = slots_[event.value];
  const auto owner = slot.owner.load(std::memory_order_relaxed);
  if (owner != stream.value) {
    slot.owner.store(owner == kUnowned ? stream.value : kShared, std::memory_order_relaxed);
  }
  return slot.promised.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace npu::driver
