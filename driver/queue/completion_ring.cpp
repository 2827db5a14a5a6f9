// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/completion_ring.hpp"

#include <fmt/format.h>

namespace npu::driver {

ConstByteSpan CompletionRing::next() const {
  const auto place = head() & (outcomes_.size() - 1);
  return ring_.watched(place * abi::kQueueCompletionSize, abi::kQueueCompletionSize);
}

void CompletionRing::read_all() {
  if (is_closed()) return;
  for (;;) {
    const auto head = head_.load(kRelaxed);
    const Bytes at = (head & (outcomes_.size() - 1)) * abi::kQueueCompletionSize;
    const bool host = ring_.in_host_memory();
    const auto rest = ring_.load(at + 8);
    if (!host) counters_.mmio_reads.fetch_add(1, kRelaxed);
    if (!host && rest == ~0ULL) break;  // the card does not answer
    if ((rest >> 48 & 1) != abi::completion_phase(head, log2_places_)) break;
    link_.platform().read_barrier();
    const auto read_index = ring_.load(at);
    if (!host) counters_.mmio_reads.fetch_add(1, kRelaxed);
    read_one(read_index, rest);
    head_.store(head + 1, std::memory_order_release);
  }
  if (!indices_) return;
  const auto index = indices_.load(0);
  note_read(index);
}

// `rest`: tag, status, phase.
void CompletionRing::read_one(std::uint64_t read_index, std::uint64_t rest) {
  counters_.completions.fetch_add(1, kRelaxed);
  note_read(read_index);
  const auto tag = static_cast<std::uint32_t>(rest);
  const auto status = static_cast<abi::FaultCode>(rest >> 32 & 0xFFFF);
  if (status != abi::FaultCode::kNone && status != abi::FaultCode::kWaitTimeout) {
    counters_.failed.fetch_add(1, kRelaxed);
    if ((rest >> 48 & abi::kCompletionContinued) == 0) faults_.note(status);
  }
  if ((tag & 0x8000'0000U) == 0) return;  // of a failed entry that did not ask for it
  // The sequence number near the last ones that has these 31 bits.
  auto last = completed_.load(kRelaxed);
  const auto sequence = abi::extend_index(last << 1, tag << 1) >> 1;
  outcomes_[sequence & (outcomes_.size() - 1)] = {sequence, status};
  while (outcomes_[(last + 1) & (outcomes_.size() - 1)].sequence == last + 1) ++last;
  completed_.store(last, std::memory_order_release);
}

Result<bool> CompletionRing::outcome(const QueueTicket& ticket) const {
  const auto& known = outcomes_[ticket.sequence & (outcomes_.size() - 1)];
  if (known.sequence == ticket.sequence) {
    if (known.status != abi::FaultCode::kNone) return faults_.error_of(ticket, known.status);
    return true;
  }
  if (known.sequence > ticket.sequence) {
    return fail(ErrorCode::kNotFound,
                fmt::format("queue {}: the outcome of entry {} has been forgotten", queue_.value,
                            ticket.index));
  }
  return false;
}

void CompletionRing::read() {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  read_all();
}

Result<bool> CompletionRing::read(const QueueTicket& ticket) {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  read_all();
  return outcome(ticket);
}

void CompletionRing::close() {
  lock_.lock(link_.clock());
  const SpinLockHolder holder(lock_);
  read_all();
  closed_.store(true, std::memory_order_release);
}

}  // namespace npu::driver
