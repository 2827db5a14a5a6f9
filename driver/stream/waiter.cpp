// SPDX-License-Identifier: Apache-2.0
#include "driver/stream/waiter.hpp"

#include <fmt/format.h>

#include "driver/stream/wait.hpp"
#include "driver/support/observation.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {

Waiter::Waiter(CardLink& link, EventTable& events, DmaQueue& queue, const AdaptiveOptions& options)
    : link_(link),
      events_(events),
      queue_(queue),
      device_index_(link.device_index()),
      options_(options),
      track_(link.platform().tracer().track(fmt::format("driver{}.wait", device_index_))),
      wake_cost_(options.context_switch.count()) {}

Status Waiter::wait(const Ticket& ticket, const WaitContext& context, WaitPolicy policy,
                    Instant deadline) {
  auto& tracer = link_.platform().tracer();
  const auto cause = platform::dma_cause(device_index_, ticket.position);
  const platform::CauseScope scope(tracer, cause);
  const Instant begin = link_.clock().now();
  counters_.waits.fetch_add(1, std::memory_order_relaxed);
  const Status status = Wait(*this, ticket, context, deadline).run(policy);
  observe(link_.platform(), [&](platform::Tracer& listening, Instant now) {
    platform::TraceEvent event;
    event.begin = begin;
    event.end = now;
    event.cause = cause;
    event.detail =
        std::uint64_t{is_timeout(status)} << platform::kWaitTimedOut | ticket.event.value;
    event.track = track_;
    event.activity = platform::Activity::kEventWait;
    listening.emit(event);
  });
  return status;
}

Result<bool> Waiter::is_done(const Ticket& ticket) {
  auto record = events_.load(ticket.event);
  if (!is_aborted(ticket) && !abi::event_reached(record.count(), ticket.target)) {
    const auto now = link_.clock().now();
    const bool due = now - ticket.submitted >= kFirstProbe && events_.may_ask(ticket.event, now);
    if (!due) return false;
    const auto done = ask_card(ticket, record);
    if (!done || !*done) return done;
  }
  if (auto ok = outcome(ticket, record); !ok) return forward_error(ok);
  return true;
}

// A record may have been lost on its way to host memory: the card's own count has not been.
Result<bool> Waiter::ask_card(const Ticket& ticket, abi::EventRecord& record) {
  const auto raw = link_.read_event(ticket.event.value);
  if (!raw) return forward_error(raw);
  const abi::EventRecord on_card{*raw};
  if (abi::event_reached(on_card.count(), ticket.target)) {
    record = on_card;
    return true;
  }
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (status->get<abi::DmaQueueStatus::Halted>() && status->get<abi::DmaQueueStatus::Idle>()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("the DMA queue of {} has halted before stream {} was done",
                            to_string(link_.bdf()), ticket.stream.value));
  }
  if (status->get<abi::DmaQueueStatus::Enabled>() || queue_.is_stopped()) return false;
  if (is_aborted(ticket)) return true;
  return fail(ErrorCode::kAborted,
              fmt::format("stream {}, command {}: the DMA queue of {} is off, the card was reset",
                          ticket.stream.value, ticket.position, to_string(link_.bdf())));
}

// The ticket's command is done, well or badly, or given up. The latter is asked after the look at
// the event: what that showed may have been counted after a reset.
Status Waiter::outcome(const Ticket& ticket, abi::EventRecord record) {
  link_.platform().read_barrier();
  if (is_aborted(ticket)) {
    return fail(ErrorCode::kAborted,
                fmt::format("stream {}, command {}: given up by a reset of the queue",
                            ticket.stream.value, ticket.position));
  }
  if (events_.is_exclusive(ticket.event)) queue_.note_consumed(QueueMark::behind(ticket));
  if (record.fault() == abi::FaultCode::kNone) return {};
  return fail(ErrorCode::kDeviceFault,
              fmt::format("stream {}: event {} has seen {}", ticket.stream.value,
                          ticket.event.value, to_string(record.fault())));
}

LatencyEstimate Waiter::forecast(const Ticket& ticket, const WaitContext& context) {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  const auto own = context.predictor->estimate(ticket.size_class);
  return own.known ? own : all_streams_.estimate(ticket.size_class);
}

void Waiter::forget(LatencyPredictor& predictor) {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  predictor.forget();
}

void Waiter::learn(const Ticket& ticket, const WaitContext& context, Picoseconds sample,
                   bool was_long) {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  context.predictor->learn(ticket.size_class, sample, was_long);
  all_streams_.learn(ticket.size_class, sample, was_long);
}

// `sample`: from a timer's expiry to the task running again.
void Waiter::learn_wake_cost(Picoseconds sample) {
  const Picoseconds old = wake_cost();
  wake_cost_.store((old + (sample - old) / 8).count(), std::memory_order_relaxed);
}

WaitStatistics Waiter::statistics() const {
  WaitStatistics result;
  result.waits = counters_.waits.load(std::memory_order_relaxed);
  result.already_done = counters_.already_done.load(std::memory_order_relaxed);
  result.spun = counters_.spun.load(std::memory_order_relaxed);
  result.slept = counters_.slept.load(std::memory_order_relaxed);
  result.missed_interrupts = counters_.missed.load(std::memory_order_relaxed);
  result.timeouts = counters_.timeouts.load(std::memory_order_relaxed);
  return result;
}

}  // namespace npu::driver
