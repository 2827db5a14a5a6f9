// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/queue_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/queue/queue_wait.hpp"
#include "driver/support/choice.hpp"
#include "driver/support/observation.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {
namespace {

// Room may come without a completion: from the index in memory, or with a larger ring.
constexpr Picoseconds kRoomPause = 50_us;
constexpr unsigned kDetailShift = 32;  // of both events
static_assert(kDetailShift == platform::kWaitTimedOut);

}  // namespace

QueueChannel::QueueChannel(CardLink& link, QueueHost& host, QueueChannelParts parts)
    : link_(link),
      host_(host),
      id_(parts.id),
      device_index_(parts.device_index),
      doorbell_(parts.doorbell),
      vector_(parts.vector),
      faults_(link.clock(), parts.id),
      completions_(link, parts.id, std::move(parts.completions), parts.log2_completions, indices_,
                   faults_, counters_),
      submissions_(link,
                   {parts.id, std::move(parts.ring), parts.log2_ring, parts.doorbells,
                    parts.doorbell, parts.vector != nullptr},
                   indices_, completions_, counters_),
      indices_(std::move(parts.indices)),
      history_(link.clock(), parts.adaptive) {
  auto& tracer = link.platform().tracer();
  submit_track_ = tracer.track(fmt::format("driver{}.queue", device_index_));
  wait_track_ = tracer.track(fmt::format("driver{}.wait", device_index_));
}

Status QueueChannel::usable() const {
  if (completions_.is_closed()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("queue {} was destroyed", id_.value));
  }
  if (faulted()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("queue {} has stopped: {}", id_.value, to_string(faults_.code())));
  }
  return link_.alive();
}

Result<QueueTicket> QueueChannel::submit(const abi::QueueEntry* entries, std::size_t count,
                                         Instant deadline, const QueueEntryOptions& options) {
  const auto begin = link_.clock().now();
  for (bool waited = false;; waited = true) {
    if (auto ok = usable(); !ok) return forward_error(ok);
    if (!submissions_.lock().try_lock_until(link_.clock(), deadline)) {
      return fail(ErrorCode::kQueueFull,
                  fmt::format("queue {}: waited for other submissions", id_.value));
    }
    bool silent = false;
    {
      const SpinLockHolder holder(submissions_.lock());
      if (count == 0 || count > submissions_.places()) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("queue {}: {} entries at once in a ring of {}", id_.value, count,
                                submissions_.places()));
      }
      if (completions_.is_closed()) continue;
      if (submissions_.has_room(count)) return enter(entries, count, begin, options);
      if (submissions_.needs_a_sign(count)) {
        const auto nop = entries::nop();
        QueueEntryOptions sign;
        sign.interrupt = false;
        enter(&nop, 1, begin, sign);
      }
      silent = submissions_.is_silent();
    }
    if (!waited) counters_.ring_full.fetch_add(1, kRelaxed);
    if (auto ok = wait_for_room(count, deadline, silent); !ok) return forward_error(ok);
  }
}

// Under the lock of submissions, and there is room.
QueueTicket QueueChannel::enter(const abi::QueueEntry* entries, std::size_t count, Instant begin,
                                const QueueEntryOptions& options) {
  QueueTicket ticket;
  {
    const platform::CauseScope scope(
        link_.platform().tracer(),
        platform::queue_cause(device_index_, id_.value, submissions_.write_index() + count - 1));
    ticket = submissions_.enter(entries, count, options);
  }
  ticket.submitted = begin;
  trace(platform::Activity::kDmaSubmit, begin, ticket, count - 1);
  return ticket;
}

// Until something has changed, without the lock: whoever replaces a full ring needs it.
Status QueueChannel::wait_for_room(std::size_t count, Instant deadline, bool silent) {
  auto& clock = link_.clock();
  const auto before = completions_.moves();
  completions_.read();
  if (completions_.moves() != before) return {};
  host_.look_for_faults();
  if (auto ok = usable(); !ok) return ok;
  if (clock.now() >= deadline) {
    counters_.rejected.fetch_add(1, kRelaxed);
    return fail(ErrorCode::kQueueFull,
                fmt::format("queue {}: no room for {} entries, the card has taken {}", id_.value,
                            count, completions_.read_index()));
  }
  if (silent) {
    if (const auto index = host_.ask_read_index(id_, deadline)) completions_.note_read(*index);
    if (completions_.moves() != before) return {};
  }
  clock.relax(completions_.next(), std::min(deadline, clock.now() + kRoomPause));
  return {};
}

Result<bool> QueueChannel::look(const QueueTicket& ticket, Instant deadline) {
  // Before the completions are read: what has ended them for good then is in what is found.
  const bool closed = completions_.is_closed();
  const bool settled = faults_.is_quiescent();
  auto found = completions_.read(ticket);
  if (!found) {  // its record, which says where, came before its completion
    host_.look_for_faults();
    found = completions_.read(ticket);
  }
  if (!found || *found) return found;
  if (closed) {
    if (faulted()) return faults_.error_of(ticket, faults_.code());
    return fail(ErrorCode::kAborted, fmt::format("queue {} was destroyed before entry {} was done",
                                                 id_.value, ticket.index));
  }
  host_.look_for_faults();
  if (settled) return faults_.error_of(ticket, faults_.code());
  if (!faulted()) return false;
  // What ran beside the entry at fault may have ended well. Whoever destroys the queue closes it.
  if (!faults_.is_quiescent() && !completions_.is_closed()) {
    if (!host_.await_stopped(id_, deadline)) return false;
    faults_.note_quiescent();
  }
  return look(ticket, deadline);
}

Result<bool> QueueChannel::look_with_card(const QueueTicket& ticket, Instant deadline) {
  if (!completions_.is_closed()) {
    if (auto ok = host_.ask_card(id_); !ok) return forward_error(ok);
  }
  return look(ticket, deadline);
}

Result<bool> QueueChannel::is_done(const QueueTicket& ticket) {
  if (ticket.queue != id_) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a ticket of queue {} at queue {}", ticket.queue.value, id_.value));
  }
  if (ticket.sequence == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {}: entry {} was submitted without completion", id_.value,
                            ticket.index));
  }
  const auto done = look(ticket, Instant::never());
  return !done || *done || !may_ask(ticket) ? done : look_with_card(ticket, Instant::never());
}

// Not sooner than a wait would, nor more often.
bool QueueChannel::may_ask(const QueueTicket& ticket) {
  const auto now = link_.clock().now();
  const auto since = now.since_power_up().count();
  if (now - ticket.submitted < kFirstProbe || since < ask_at_.load(kRelaxed)) return false;
  ask_at_.store((now + kFirstProbe).since_power_up().count(), kRelaxed);
  return true;
}

Status QueueChannel::wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline) {
  if (ticket.sequence == 0 || ticket.queue != id_) return forward_error(is_done(ticket));
  if (auto ok = check_choice("policy", policy, WaitPolicy::kAdaptive); !ok) return ok;
  const auto begin = link_.clock().now();
  const platform::CauseScope scope(link_.platform().tracer(),
                                   platform::queue_cause(device_index_, id_.value, ticket.index));
  counters_.waits.fetch_add(1, kRelaxed);
  const QueueWait::Parts parts{link_.clock(), vector_, completions_, history_, counters_};
  const Status status = QueueWait(*this, parts, ticket, deadline).run(policy);
  trace(platform::Activity::kEventWait, begin, ticket, is_timeout(status) ? 1 : 0);
  return status;
}

Status QueueChannel::replace_ring(QueueBuffer& ring, unsigned log2_entries,
                                  std::uint64_t read_index) {
  submissions_.lock().lock(link_.clock());
  const SpinLockHolder holder(submissions_.lock());
  return submissions_.replace(ring, log2_entries, read_index);
}

void QueueChannel::note_ring_known() {
  submissions_.lock().lock(link_.clock());
  const SpinLockHolder holder(submissions_.lock());
  submissions_.note_known();
}

void QueueChannel::close() {
  submissions_.lock().lock(link_.clock());
  const SpinLockHolder holder(submissions_.lock());
  completions_.close();
}

void QueueChannel::give_back_ring() {
  submissions_.lock().lock(link_.clock());
  const SpinLockHolder holder(submissions_.lock());
  submissions_.give_back();
}

void QueueChannel::trace(platform::Activity activity, Instant begin, const QueueTicket& ticket,
                         std::uint64_t detail) {
  observe(link_.platform(), [&](platform::Tracer& tracer, Instant now) {
    platform::TraceEvent event;
    event.begin = begin;
    event.end = now;
    event.cause = platform::queue_cause(device_index_, id_.value, ticket.index);
    event.detail = detail << kDetailShift | id_.value;
    event.track = activity == platform::Activity::kEventWait ? wait_track_ : submit_track_;
    event.activity = activity;
    tracer.emit(event);
  });
}

}  // namespace npu::driver
