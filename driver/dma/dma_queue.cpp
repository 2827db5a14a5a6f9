// SPDX-License-Identifier: Apache-2.0
#include "driver/dma/dma_queue.hpp"

#include <fmt/format.h>

#include "driver/support/observation.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

DmaQueue::DmaQueue(CardLink& link, EventTable& events, RingMemory ring)
    : link_(link),
      events_(events),
      ring_(std::move(ring)),
      device_index_(link.device_index()),
      track_(link.platform().tracer().track(fmt::format("driver{}.submit", device_index_))),
      gate_(link.platform().tasks()) {}

// --- Submitting ------------------------------------------------------------------------------

Result<Ticket> DmaQueue::submit(const CopyRequest& request, Picoseconds timeout) {
  auto& clock = link_.clock();
  const Instant called = clock.now();
  const Instant deadline = called + timeout;
  bool met_full = false;
  for (;;) {
    if (!lock_.try_lock_until(clock, deadline)) return queue_full(timeout);
    bool held_up = false;
    {
      const SpinLockHolder holder(lock_);
      if (auto ok = link_.alive(); !ok) return forward_error(ok);
      held_up = gate_.is_closed() && !request.privileged;
      if (!held_up && stopped_.load(std::memory_order_relaxed)) return stopped_error();
      if (!held_up && is_full()) {
        if (!met_full) ring_full_.fetch_add(1, std::memory_order_relaxed);
        met_full = true;
        if (auto ok = refresh_consumer(); !ok) return forward_error(ok);
      }
      if (!held_up && !is_full()) return enqueue(request, called);
    }
    if (held_up) {
      if (auto ok = wait_at_gate(timeout, deadline); !ok) return forward_error(ok);
      continue;
    }
    // The lock is free meanwhile. Every round is a register read, so the rounds need no spacing.
    if (clock.now() >= deadline) return queue_full(timeout);
    clock.relax({}, deadline);
  }
}

// Under the lock, with room in the ring.
Ticket DmaQueue::enqueue(const CopyRequest& request, Instant called) {
  const auto mark = submitted();
  const auto position = mark.position();
  auto& tracer = link_.platform().tracer();
  const auto cause = platform::dma_cause(device_index_, position);
  const platform::CauseScope scope(tracer, cause);

  Ticket ticket;
  ticket.position = position;
  ticket.epoch = mark.epoch();
  ticket.event = request.event;
  ticket.stream = request.stream;
  ticket.size_class = static_cast<std::uint8_t>(floor_log2(request.command.size()));
  ticket.interrupt = request.interrupt;
  ticket.submitted = called;
  if (request.event != kNoEvent) ticket.target = events_.promise(request.event, request.stream);

  abi::DmaEntry entry;
  entry.opcode = static_cast<std::uint8_t>(request.command.opcode());
  entry.flags = request.interrupt ? abi::kDmaFlagInterrupt : std::uint8_t{0};
  entry.stream = request.stream.value;
  entry.set_source(request.command.source());
  entry.set_destination(request.command.destination());
  entry.event = request.event.value;
  entry.set_size(request.command.size());
  ring_.write(static_cast<std::uint32_t>(position % abi::kRingEntries), entry);
  link_.platform().write_barrier();

  const auto next = static_cast<std::uint32_t>((position + 1) % abi::kRingEntries);
  link_.write(abi::DmaDoorbell::from_raw(next));
  producer_.store(QueueMark::behind(ticket).raw(), std::memory_order_release);
  total_.fetch_add(1, std::memory_order_relaxed);
  observe(link_.platform(), [&](platform::Tracer& listening, Instant now) {
    platform::TraceEvent event;
    event.begin = called;
    event.end = now;
    event.cause = cause;
    event.bytes = request.command.size();
    event.detail = request.stream.value;
    event.track = track_;
    event.activity = platform::Activity::kDmaSubmit;
    listening.emit(event);
  });
  return ticket;
}

std::uint64_t DmaQueue::in_ring() const {
  const auto consumed = QueueMark::from_raw(consumer_.load(std::memory_order_relaxed));
  const auto produced = submitted();
  return produced.epoch() == consumed.epoch() ? produced.position() - consumed.position() : 0;
}

// What belongs to another run than the present one is in no ring any more.
bool DmaQueue::is_consumed(QueueMark mark) const {
  const auto consumed = QueueMark::from_raw(consumer_.load(std::memory_order_relaxed));
  return consumed.epoch() != mark.epoch() || consumed.position() >= mark.position();
}

// Under the lock: the index says which command it means only while the producer stands still.
Status DmaQueue::refresh_consumer() {
  const auto index = link_.read<abi::DmaConsumerIndex>();
  if (!index) return forward_error(index);
  consumer_reads_.fetch_add(1, std::memory_order_relaxed);
  const auto mark = submitted();
  const auto producer = mark.position();
  const auto slot = index->get<abi::DmaConsumerIndex::Index>();
  const auto in_ring =
      abi::ring_used(static_cast<std::uint32_t>(producer % abi::kRingEntries), slot);
  if (slot >= abi::kRingEntries || in_ring > producer) {
    return fail(ErrorCode::kBadDevice, fmt::format("{}: DMA_CONSUMER_INDEX is {} after {} commands",
                                                   to_string(link_.bdf()), slot, producer));
  }
  note_consumed({mark.epoch(), producer - in_ring});
  return {};
}

void DmaQueue::note_consumed(QueueMark mark) {
  auto known = consumer_.load(std::memory_order_relaxed);
  while (QueueMark::from_raw(known).epoch() == mark.epoch() && known < mark.raw() &&
         !consumer_.compare_exchange_weak(known, mark.raw(), std::memory_order_relaxed)) {
  }
}

Status DmaQueue::wait_consumed(QueueMark mark, Instant deadline) {
  auto& clock = link_.clock();
  while (!is_consumed(mark)) {
    if (!lock_.try_lock_until(clock, deadline)) {
      return fail(ErrorCode::kTimeout, "waited for other submissions");
    }
    {
      const SpinLockHolder holder(lock_);
      if (is_consumed(mark)) break;
      if (auto ok = refresh_consumer(); !ok) return ok;
    }
    if (is_consumed(mark)) break;
    if (clock.now() >= deadline) {
      const auto consumed = QueueMark::from_raw(consumer_.load(std::memory_order_relaxed));
      return fail(ErrorCode::kTimeout, fmt::format("the card has taken {} commands of {}",
                                                   consumed.position(), mark.position()));
    }
    clock.relax({}, deadline);
  }
  return {};
}

// Whoever holds the lock has seen the gate open and is done with it when the lock is free again.
Status DmaQueue::close_gate(Instant deadline) {
  gate_.close();
  if (!lock_.try_lock_until(link_.clock(), deadline)) {
    gate_.open();
    return fail(ErrorCode::kTimeout, "waited for other submissions");
  }
  lock_.unlock();
  return {};
}

Status DmaQueue::wait_at_gate(Picoseconds timeout, Instant deadline) {
  if (gate_.wait_open(deadline)) return {};
  return fail(ErrorCode::kTimeout,
              fmt::format("{}: submissions held up for {} us while device memory is compacted "
                          "or the queue is reset",
                          to_string(link_.bdf()), timeout.count() / 1'000'000));
}

tl::unexpected<Error> DmaQueue::queue_full(Picoseconds timeout) {
  rejected_.fetch_add(1, std::memory_order_relaxed);
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  return fail(
      ErrorCode::kQueueFull,
      fmt::format("{} commands in the ring and no room for {} us{}", in_ring(),
                  timeout.count() / 1'000'000,
                  status->get<abi::DmaQueueStatus::Halted>() ? "; the queue has halted" : ""));
}

// --- Starting, draining, stopping ------------------------------------------------------------

Status DmaQueue::start(Instant deadline) {
  if (auto ok = disable(deadline); !ok) return ok;
  if (!lock_.try_lock_until(link_.clock(), deadline)) {
    return fail(ErrorCode::kTimeout, "waited for other submissions");
  }
  const SpinLockHolder holder(lock_);
  return enable();
}

// Under the lock: whoever looks at the card's index meanwhile must know of which run it is.
Status DmaQueue::enable() {
  link_.write(abi::DmaQueueBase::from_raw(ring_.base()));
  abi::DmaQueueControl control;
  control.set<abi::DmaQueueControl::Enable>(1);
  control.set<abi::DmaQueueControl::HostMemory>(ring_.in_host_memory() ? 1 : 0);
  link_.write(control);
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (!status->get<abi::DmaQueueStatus::Enabled>()) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: the DMA queue does not enable, status {:#x}",
                            to_string(link_.bdf()), status->raw));
  }
  const QueueMark begin(submitted().next_epoch(), 0);
  consumer_.store(begin.raw(), std::memory_order_relaxed);
  producer_.store(begin.raw(), std::memory_order_release);
  return {};
}

// Until the gate opens nobody counts on an event, rings the doorbell or sees half a reset.
Status DmaQueue::reset(Instant deadline) {
  if (auto ok = close_gate(deadline); !ok) return ok;
  stopped_.store(true, std::memory_order_relaxed);
  Status status = start(deadline);
  if (status) status = events_.reset();
  stopped_.store(!status, std::memory_order_relaxed);
  open_gate();
  return status;
}

tl::unexpected<Error> DmaQueue::stopped_error() const {
  return fail(
      ErrorCode::kAborted,
      fmt::format("the DMA queue of {} is off since a reset of it failed", to_string(link_.bdf())));
}

Status DmaQueue::disable(Instant deadline) {
  if (auto ok = link_.alive(); !ok) return ok;
  link_.write(abi::DmaQueueControl{});
  return wait_for_status(deadline, "to become idle");
}

Status DmaQueue::drain(Instant deadline) {
  if (stopped_.load(std::memory_order_relaxed)) return stopped_error();
  const auto status = link_.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (status->get<abi::DmaQueueStatus::Halted>()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("the DMA queue of {} has halted", to_string(link_.bdf())));
  }
  if (auto ok = wait_consumed(submitted(), deadline); !ok) return ok;
  return wait_for_status(deadline, "to finish");
}

Status DmaQueue::wait_for_status(Instant deadline, const char* what) {
  auto& clock = link_.clock();
  for (;;) {
    const auto status = link_.read<abi::DmaQueueStatus>();
    if (!status) return forward_error(status);
    if (status->get<abi::DmaQueueStatus::Idle>()) return {};
    if (clock.now() >= deadline) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("{}: waited for the DMA queue {}", to_string(link_.bdf()), what));
    }
    clock.relax({}, deadline);
  }
}

DmaStatistics DmaQueue::statistics() const {
  DmaStatistics result;
  result.submitted = total_.load(std::memory_order_relaxed);
  result.ring_full = ring_full_.load(std::memory_order_relaxed);
  result.consumer_reads = consumer_reads_.load(std::memory_order_relaxed);
  result.rejected = rejected_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace npu::driver
