// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/stream_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/queue/fault_text.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/queue/submission_ring.hpp"
#include "driver/runtime/stream_waits.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::driver {
namespace {

std::string text_of(const QueueFault& fault) {
  const auto place = whole_place_of(fault);
  return fmt::format("entry {}: {}{}{}", fault.index, abi::to_string(fault.code),
                     place.empty() ? "" : ", ", place);
}

}  // namespace

LaneSet::Stopped LaneSet::stopped(bool& all_done) const {
  for (const auto& lane : of) {
    if (lane == nullptr) continue;
    const auto done = lane->is_done();
    if (!done) return {lane, done.error()};
    if (!*done) all_done = false;
  }
  return {};
}

Result<LaneSet::Stopped> LaneSet::wait(platform::Clock& clock, Instant deadline) const {
  const bool alone = count() < 2;
  for (const auto& lane : of) {
    for (bool ended = lane == nullptr; !ended;) {
      const auto done = lane->wait(alone ? deadline : std::min(deadline, clock.now() + kLook));
      ended = done.has_value();
      if (ended) continue;
      if (done.error().code != ErrorCode::kTimeout) return Stopped{lane, done.error()};
      bool all = true;
      auto other = stopped(all);
      if (other.lane != nullptr) return other;
      if (clock.now() >= deadline) return forward_error(done);
    }
  }
  return Stopped{};
}

StreamLanes::StreamLanes(ProcessContext& process, const ExecutionStreamOptions& options,
                         const std::atomic<bool>& closing)
    : process_(process),
      clock_(impl_of(process).link.clock()),
      options_(options),
      closing_(closing) {}

Status StreamLanes::open(LaunchCores kind) {
  auto& lane = lane_of(kind);
  if (lane != nullptr) return {};
  QueueOptions wanted;
  wanted.in_order = true;
  wanted.ring.log2_entries = options_.log2_entries;
  wanted.priority = options_.priority;
  wanted.preemptible = options_.preemptible;
  wanted.interrupt = options_.wait != WaitPolicy::kPolling;
  wanted.core_mask = options_.cores[static_cast<std::size_t>(kind)];
  auto queue = process_.create_queue(wanted);
  if (!queue) return forward_error(queue);
  static_cast<void>(process_.take_faults((*queue)->id()));  // of an earlier queue of this number
  lane = std::make_shared<StreamLane>(std::move(*queue), options_.wait);
  return {};
}

Status StreamLanes::apply_cores(LaunchCores kind) {
  const auto lane = lane_of(kind);
  if (lane == nullptr) return {};
  QueueChange change;
  change.core_mask = options_.cores[static_cast<std::size_t>(kind)];
  return process_.update(lane->queue().id(), change);
}

// One doorbell for all of them. A full ring is looked at again and again.
Result<QueueTicket> StreamLanes::put(StreamLane& lane, const abi::QueueEntry* entries,
                                     std::size_t count) {
  QueueEntryOptions how;
  how.continue_on_error = options_.on_error == StreamErrorMode::kContinue;
  const Instant deadline = clock_.now() + kRoom;
  const bool in_time_slices =
      impl_of(process_).queues.time_slices() != nullptr;  // which it has a place to wait for
  for (;;) {
    if (closing_) return stream_closed();
    const Instant look = in_time_slices ? deadline : std::min(deadline, clock_.now() + kLook);
    auto ticket = submit_in_time_slice(process_, lane.queue(), entries, count, look, how);
    const bool full = !ticket && ticket.error().code == ErrorCode::kQueueFull;
    if (!full || clock_.now() >= deadline) {
      if (ticket) lane.submitted(*ticket);
      return ticket;
    }
  }
}

Status StreamLanes::push_record(std::vector<abi::QueueEntry>& entries) {
  if (signal_ == nullptr) {
    auto made = StreamSignal::make(process_.signals());
    if (!made) return forward_error(made);
    signal_ = std::move(*made);
  }
  entries.push_back(entries::record_event(signal_->id(), signal_->next()));
  return {};
}

Status StreamLanes::wait_behind_other_cores(std::vector<abi::QueueEntry>& entries) {
  if (recorded_ == 0) {
    const auto before = lane_of(current_);
    if (before == nullptr || !before->last()) return {};
    std::vector<abi::QueueEntry> record;
    if (auto there = push_record(record); !there) return there;
    const auto ticket = put(*before, record.data(), 1);
    if (!ticket) return forward_error(ticket);
    recorded_ = signal_->last();
  }
  entries.push_back(entries::wait_event(signal_->id(), recorded_));
  return {};
}

// Once there are queues of several kinds, all work records its end: a wait for it then needs no
// doorbell of its own.
Result<StreamLanes::Appended> StreamLanes::append(LaunchCores kind, const abi::QueueEntry* entries,
                                                  std::size_t count, bool record) {
  if (closing_) return stream_closed();
  if (auto there = open(kind); !there) return forward_error(there);
  const auto lane = lane_of(kind);
  batch_.clear();
  if (kind != current_) {
    if (auto there = wait_behind_other_cores(batch_); !there) return forward_error(there);
  }
  batch_.insert(batch_.end(), entries, entries + count);
  const bool several = lanes_.count() > 1;
  if (record || several) {
    if (auto there = push_record(batch_); !there) return forward_error(there);
  }
  auto ticket = put(*lane, batch_.data(), batch_.size());
  if (!ticket) return forward_error(ticket);
  current_ = kind;
  recorded_ = record || several ? signal_->last() : 0;
  if (several && !record) {  // the entry before the record
    --ticket->index;
    --ticket->sequence;
    ticket->size_class = size_class_of(entries[count - 1]);
  }
  return Appended{lane, *ticket};
}

// A record goes behind what the current cores have of this work, or of work before.
Status StreamLanes::change_cores(LaunchCores kind) {
  auto& from = batch_of(current_);
  if (!from.entries.empty()) {
    if (auto there = push_record(from.entries); !there) return there;
    from.places.push_back(kAdded);
    recorded_ = signal_->last();
  }
  auto& to = batch_of(kind);
  if (auto there = wait_behind_other_cores(to.entries); !there) return there;
  to.places.resize(to.entries.size(), kAdded);
  return {};
}

Status StreamLanes::put_batches(std::vector<QueueTicket>* tickets) {
  for (std::size_t kind = 0; kind < kLaunchCores; ++kind) {
    auto& batch = batches_[kind];
    const std::size_t count = batch.entries.size();
    if (count == 0) continue;
    const auto last = put(*lanes_.of[kind], batch.entries.data(), count);
    if (!last) return forward_error(last);
    for (std::size_t i = 0; i < count && tickets != nullptr; ++i) {
      if (batch.places[i] == kAdded) continue;
      auto& ticket = (*tickets)[batch.places[i]];
      ticket = *last;
      ticket.index -= count - 1 - i;
      ticket.sequence -= count - 1 - i;
      ticket.size_class = size_class_of(batch.entries[i]);
    }
    batch = {};
  }
  return {};
}

Status StreamLanes::append_all(const std::vector<LaneWork>& work,
                               std::vector<QueueTicket>* tickets) {
  const std::size_t most = (std::size_t{1} << options_.log2_entries) - 3;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto kind = work[i].kind;
    if (auto there = open(kind); !there) return there;
    // With a wait before the entry and a record behind it.
    if (batch_of(kind).entries.size() > most) {
      if (auto there = put_batches(tickets); !there) return there;
    }
    if (kind != current_) {
      if (auto there = change_cores(kind); !there) return there;
    }
    batch_of(kind).entries.push_back(work[i].entry);
    batch_of(kind).places.push_back(i);
    current_ = kind;
    recorded_ = 0;
  }
  // What comes behind it on other cores then needs no doorbell of its own.
  auto& last = batch_of(current_);
  if (auto there = push_record(last.entries); !there) return there;
  last.places.push_back(kAdded);
  recorded_ = signal_->last();
  return put_batches(tickets);
}

Result<StreamLanes::Appended> StreamLanes::append(const std::vector<LaneWork>& work,
                                                  std::vector<QueueTicket>* tickets) {
  if (closing_) return stream_closed();
  batches_ = {};
  if (tickets != nullptr) tickets->assign(work.size(), {});
  if (auto there = append_all(work, tickets); !there) {
    // A queue that has stopped is for synchronize() to find.
    if (there.error().code != ErrorCode::kDeviceFault) drop(clock_.now());
    return forward_error(there);
  }
  const auto lane = lane_of(current_);
  return Appended{lane, *lane->last()};
}

LaunchFault StreamLanes::fault_of(const StreamLane& lane, const Error& error) const {
  LaunchFault fault;
  for (std::size_t kind = 0; kind < kLaunchCores; ++kind) {
    if (lanes_.of[kind].get() == &lane) fault.cores = static_cast<LaunchCores>(kind);
  }
  fault.text = error.message();
  const auto said = process_.take_faults(lane.queue().id());
  if (!said.empty()) fault.fault = said.front();
  if (!said.empty()) fault.text = text_of(said.front());
  return fault;
}

std::optional<LaunchFault> StreamLanes::take_failed() {
  std::optional<LaunchFault> first;
  for (const auto& lane : lanes_.of) {
    if (lane == nullptr || !lane->take_failed()) continue;
    const auto id = lane->queue().id();
    auto fault = fault_of(
        *lane, {ErrorCode::kDeviceFault, fmt::format("queue {}: an entry has failed", id.value)});
    if (!first) first = std::move(fault);
  }
  return first;
}

void StreamLanes::drop(Instant deadline) {
  for (auto& place : lanes_.of) {
    const auto lane = std::exchange(place, nullptr);
    if (lane != nullptr) static_cast<void>(process_.destroy(lane->queue(), deadline));
  }
  current_ = LaunchCores::kVector;
  recorded_ = 0;
  if (signal_ != nullptr) signal_->make_all();
}

}  // namespace npu::driver
