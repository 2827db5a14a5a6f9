// SPDX-License-Identifier: Apache-2.0
// QueueChannel: submitting.
#include "driver/queue/queue_channel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/support/observation.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {
namespace {

// Room may come without a completion: from the index in memory, or with a larger ring.
constexpr Picoseconds kRoomPause = 50_us;

// Entries of a kind and a size take about as long as each other.
std::uint8_t size_class_of(const abi::QueueEntry& entry) {
  constexpr std::uint8_t kKernels = 38;
  Bytes size = 0;
  if (const auto* const operation = abi::find_dma_operation(entry.opcode)) {
    const bool fills = operation->source == abi::DmaSide::kPattern;
    size = fills ? entry.get<abi::FillPayload>().size : entry.get<abi::CopyPayload>().size;
  }
  if (entry.opcode >> 4 == 1) return kKernels;
  return static_cast<std::uint8_t>(size == 0 ? 0 : std::min(floor_log2(size), 37U));
}

// It may fail without being a fault of the queue, and then has a completion entry anyway.
bool may_time_out(const abi::QueueEntry& entry) {
  return static_cast<abi::QueueOpcode>(entry.opcode) == abi::QueueOpcode::kEventWait &&
         entry.get<abi::WaitPayload>().timeout_ns != 0;
}

}  // namespace

QueueChannel::QueueChannel(CardLink& link, QueueHost& host, QueueChannelParts parts)
    : link_(link),
      host_(host),
      parts_(std::move(parts)),
      ring_limit_(std::uint64_t{1} << parts_.log2_ring),
      outcomes_(std::size_t{1} << parts_.log2_completions),
      wake_cost_(parts_.adaptive.context_switch.count()) {
  auto& tracer = link.platform().tracer();
  submit_track_ = tracer.track(fmt::format("driver{}.queue", parts_.device_index));
  wait_track_ = tracer.track(fmt::format("driver{}.wait", parts_.device_index));
}

Status QueueChannel::usable() const {
  if (closed_.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {} was destroyed", parts_.id.value));
  }
  if (faulted()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("queue {} has stopped: {}", parts_.id.value, to_string(fault())));
  }
  return link_.alive();
}

// Under the submission lock. The card checks the first condition; the second keeps completion
// entries, and outcomes of entries that are overtaken, from being overwritten.
bool QueueChannel::has_room(std::size_t count) const {
  const auto completions = std::uint64_t{1} << parts_.log2_completions;
  return write_index_ + count - read_index_.load(std::memory_order_acquire) <= ring_limit_ &&
         sequence_ + count - completed_.load(std::memory_order_acquire) <= completions;
}

// The last entries, without completions, never say that they were taken, but their places are
// needed. Under the submission lock.
bool QueueChannel::needs_a_sign(std::size_t count) const {
  const auto ring = std::uint64_t{1} << parts_.log2_ring;
  return !parts_.indices && quiet_ + count > ring && has_room(1);
}

// Entries that moved to a smaller ring may fill it without a completion among them. Under the
// submission lock.
bool QueueChannel::is_silent() const {
  return !parts_.indices && sequence_ == completed_.load(std::memory_order_acquire);
}

// Told by completions, by the index in memory, and by the card when it is asked: in any order.
void QueueChannel::note_read(std::uint64_t index) {
  auto known = read_index_.load(kRelaxed);
  while (index > known && !read_index_.compare_exchange_weak(known, index)) {
  }
}

Result<QueueTicket> QueueChannel::submit(const abi::QueueEntry* entries, std::size_t count,
                                         Instant deadline, const QueueEntryOptions& options) {
  const auto begin = link_.clock().now();
  for (bool waited = false;; waited = true) {
    if (auto ok = usable(); !ok) return forward_error(ok);
    if (!submit_lock_.try_lock_until(link_.clock(), deadline)) {
      return fail(ErrorCode::kQueueFull,
                  fmt::format("queue {}: waited for other submissions", parts_.id.value));
    }
    bool silent = false;
    {
      const SpinLockHolder holder(submit_lock_);
      if (count == 0 || count > std::uint64_t{1} << parts_.log2_ring) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("queue {}: {} entries at once in a ring of {}", parts_.id.value,
                                count, 1U << parts_.log2_ring));
      }
      if (closed_.load(std::memory_order_acquire)) continue;
      if (has_room(count)) {
        auto ticket = enter(entries, count, options);
        ticket.submitted = begin;
        trace(platform::Activity::kDmaSubmit, begin, ticket, count - 1);
        return ticket;
      }
      if (needs_a_sign(count)) {
        const auto nop = entries::nop();
        QueueEntryOptions sign;
        sign.interrupt = false;
        trace(platform::Activity::kDmaSubmit, begin, enter(&nop, 1, sign));
      }
      silent = is_silent();
    }
    if (!waited) counters_.ring_full.fetch_add(1, kRelaxed);
    if (auto ok = wait_for_room(count, deadline, silent); !ok) return forward_error(ok);
  }
}

// Until something has changed, without the lock: whoever replaces a full ring needs it.
Status QueueChannel::wait_for_room(std::size_t count, Instant deadline, bool silent) {
  auto& clock = link_.clock();
  const auto before = read_index_.load(kRelaxed) + completed_.load(kRelaxed);
  {
    completion_lock_.lock(clock);
    const SpinLockHolder holder(completion_lock_);
    read_completions();
  }
  if (read_index_.load(kRelaxed) + completed_.load(kRelaxed) != before) return {};
  host_.look_for_faults();
  if (auto ok = usable(); !ok) return ok;
  if (clock.now() >= deadline) {
    counters_.rejected.fetch_add(1, kRelaxed);
    return fail(ErrorCode::kQueueFull,
                fmt::format("queue {}: no room for {} entries, the card has taken {}",
                            parts_.id.value, count, read_index_.load(kRelaxed)));
  }
  if (silent) {
    if (const auto index = host_.ask_read_index(parts_.id, deadline)) note_read(*index);
    if (read_index_.load(kRelaxed) + completed_.load(kRelaxed) != before) return {};
  }
  clock.relax(next_completion(), std::min(deadline, clock.now() + kRoomPause));
  return {};
}

// Under the lock, and there is room. Entry, barrier, doorbell.
QueueTicket QueueChannel::enter(const abi::QueueEntry* entries, std::size_t count,
                                const QueueEntryOptions& options) {
  const platform::CauseScope scope(
      link_.platform().tracer(),
      platform::queue_cause(parts_.device_index, parts_.id.value, write_index_ + count - 1));
  QueueTicket ticket;
  ticket.queue = parts_.id;
  // Without a completion entry now and then nobody would hear how far the card is.
  const auto longest_quiet = (std::uint64_t{1} << parts_.log2_ring) / 4;
  for (std::size_t i = 0; i < count; ++i) {
    const bool completion =
        options.completion || may_time_out(entries[i]) || quiet_ + 1 >= longest_quiet;
    write(entries[i], options, completion);
  }
  if (options.completion) ticket.sequence = sequence_;
  ticket.index = write_index_ - 1;
  ticket.size_class = size_class_of(entries[count - 1]);
  ticket.interrupt = options.interrupt && options.completion && parts_.vector != nullptr;
  publish();
  counters_.submissions.fetch_add(1, kRelaxed);
  counters_.entries.fetch_add(count, kRelaxed);
  return ticket;
}

// The tag says whose completion it is: bit 31 and the sequence number, or nobody's.
void QueueChannel::write(abi::QueueEntry entry, const QueueEntryOptions& options, bool completion) {
  // A completion nobody counts on would take the place of one that somebody does.
  unsigned flags = entry.flags & ~unsigned{abi::kEntryCompletion | abi::kEntryInterrupt};
  if (options.barrier) flags |= abi::kEntryBarrier;
  if (options.go_on) flags |= abi::kEntryGoOn;
  if (completion) flags |= abi::kEntryCompletion;
  if (options.completion && options.interrupt && parts_.vector) flags |= abi::kEntryInterrupt;
  entry.flags = static_cast<std::uint16_t>(flags);
  if (completion) {
    quiet_ = 0;
    entry.tag = 0x8000'0000U | static_cast<std::uint32_t>(++sequence_ & 0x7FFF'FFFF);
  } else {
    ++quiet_;
    entry.tag = static_cast<std::uint32_t>(write_index_ & 0x7FFF'FFFF);
  }
  const auto place = write_index_++ & ((std::uint64_t{1} << parts_.log2_ring) - 1);
  parts_.ring.write(place * abi::kQueueEntrySize, entry);
  if (!parts_.ring.in_host_memory()) counters_.entry_writes.fetch_add(1, kRelaxed);
}

// A card that loads the queue meanwhile reads the index in memory: the entries come before it.
void QueueChannel::publish() {
  link_.platform().write_barrier();
  if (parts_.indices) {
    parts_.indices.store(8, write_index_);
    link_.platform().write_barrier();
  }
  parts_.doorbells->write64(Bytes{parts_.doorbell} * abi::kDoorbellSize, write_index_);
  counters_.doorbells.fetch_add(1, kRelaxed);
}

Status QueueChannel::replace_ring(QueueBuffer& ring, unsigned log2_entries,
                                  std::uint64_t read_index) {
  submit_lock_.lock(link_.clock());
  const SpinLockHolder holder(submit_lock_);
  const auto places = std::uint64_t{1} << log2_entries;
  if (write_index_ - read_index > places) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {}: {} entries are waiting, the new ring has {} places",
                            parts_.id.value, write_index_ - read_index, places));
  }
  const auto old_places = std::uint64_t{1} << parts_.log2_ring;
  for (auto index = read_index; index < write_index_; ++index) {
    for (Bytes at = 0; at < abi::kQueueEntrySize; at += 8) {
      const auto from = index % old_places * abi::kQueueEntrySize + at;
      ring.store(index % places * abi::kQueueEntrySize + at, parts_.ring.load(from));
    }
  }
  link_.platform().write_barrier();
  note_read(read_index);
  std::swap(parts_.ring, ring);
  parts_.log2_ring = log2_entries;
  ring_limit_ = std::min(ring_limit_, places);
  return {};
}

void QueueChannel::note_ring_known() {
  submit_lock_.lock(link_.clock());
  const SpinLockHolder holder(submit_lock_);
  ring_limit_ = std::uint64_t{1} << parts_.log2_ring;
}

// What runs beside an entry at fault may fail, too; one that is at fault is as good as all of them.
void QueueChannel::note_fault(const QueueFault& fault) {
  constexpr std::size_t kKept = 64;
  {
    fault_lock_.lock(link_.clock());
    const SpinLockHolder holder(fault_lock_);
    // Those it goes on after are asked for soon, or never: the youngest are kept.
    if (faults_.size() == kKept && faults_.front().goes_on) faults_.erase(faults_.begin());
    if (faults_.size() < kKept) faults_.push_back(fault);
  }
  if (!fault.goes_on) note_fault(fault.code);
}

void QueueChannel::note_fault(abi::FaultCode code) {
  auto none = abi::FaultCode::kNone;
  fault_.compare_exchange_strong(none, code, std::memory_order_acq_rel);
}

void QueueChannel::close() {
  submit_lock_.lock(link_.clock());
  const SpinLockHolder submit_holder(submit_lock_);
  completion_lock_.lock(link_.clock());
  const SpinLockHolder completion_holder(completion_lock_);
  read_completions();  // what is done stays done
  closed_.store(true, std::memory_order_release);
}

void QueueChannel::give_back_ring() {
  submit_lock_.lock(link_.clock());
  const SpinLockHolder holder(submit_lock_);
  parts_.ring = {};
}

void QueueChannel::trace(platform::Activity activity, Instant begin, const QueueTicket& ticket,
                         std::size_t entries_before) {
  observe(link_.platform(), [&](platform::Tracer& tracer, Instant now) {
    platform::TraceEvent event;
    event.begin = begin;
    event.end = now;
    event.cause = platform::queue_cause(parts_.device_index, parts_.id.value, ticket.index);
    constexpr unsigned kBeforeShift = 32;
    event.detail = std::uint64_t{entries_before} << kBeforeShift | parts_.id.value;
    event.track = activity == platform::Activity::kEventWait ? wait_track_ : submit_track_;
    event.activity = activity;
    tracer.emit(event);
  });
}

QueueCounters QueueChannel::counters() const {
  QueueCounters result;
  result.submissions = counters_.submissions.load(kRelaxed);
  result.entries = counters_.entries.load(kRelaxed);
  result.doorbells = counters_.doorbells.load(kRelaxed);
  result.entry_writes = counters_.entry_writes.load(kRelaxed);
  result.mmio_reads = counters_.mmio_reads.load(kRelaxed);
  result.ring_full = counters_.ring_full.load(kRelaxed);
  result.rejected = counters_.rejected.load(kRelaxed);
  result.completions = counters_.completions.load(kRelaxed);
  result.failed = counters_.failed.load(kRelaxed);
  result.waits = counters_.waits.load(kRelaxed);
  result.spun = counters_.spun.load(kRelaxed);
  result.slept = counters_.slept.load(kRelaxed);
  result.missed_interrupts = counters_.missed.load(kRelaxed);
  result.timeouts = counters_.timeouts.load(kRelaxed);
  return result;
}

}  // namespace npu::driver
