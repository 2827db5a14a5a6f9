// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/submission_ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {

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

namespace {

// It may fail without being a fault of the queue, and then has a completion entry anyway.
bool may_time_out(const abi::QueueEntry& entry) {
  return static_cast<abi::QueueOpcode>(entry.opcode) == abi::QueueOpcode::kEventWait &&
         entry.get<abi::WaitPayload>().timeout_ns != 0;
}

}  // namespace

QueueTicket SubmissionRing::enter(const abi::QueueEntry* entries, std::size_t count,
                                  const QueueEntryOptions& options) {
  QueueTicket ticket;
  ticket.queue = parts_.queue;
  // Without a completion entry now and then nobody would hear how far the card is.
  const auto longest_quiet = places() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    const bool completion =
        options.completion || may_time_out(entries[i]) || quiet_ + 1 >= longest_quiet;
    write(entries[i], options, completion);
  }
  if (options.completion) ticket.sequence = sequence_;
  ticket.index = write_index_ - 1;
  ticket.size_class = size_class_of(entries[count - 1]);
  ticket.interrupt = options.interrupt && options.completion && parts_.can_interrupt;
  publish();
  counters_.submissions.fetch_add(1, kRelaxed);
  counters_.entries.fetch_add(count, kRelaxed);
  return ticket;
}

// The tag says whose completion it is: bit 31 and the sequence number, or nobody's.
void SubmissionRing::write(abi::QueueEntry entry, const QueueEntryOptions& options,
                           bool completion) {
  // A completion nobody counts on would take the place of one that somebody does.
  unsigned flags = entry.flags & ~unsigned{abi::kEntryCompletion | abi::kEntryInterrupt};
  if (options.barrier) flags |= abi::kEntryBarrier;
  if (options.continue_on_error) flags |= abi::kEntryContinueOnError;
  if (completion) flags |= abi::kEntryCompletion;
  if (options.completion && options.interrupt && parts_.can_interrupt) {
    flags |= abi::kEntryInterrupt;
  }
  entry.flags = static_cast<std::uint16_t>(flags);
  if (completion) {
    quiet_ = 0;
    entry.tag = 0x8000'0000U | static_cast<std::uint32_t>(++sequence_ & 0x7FFF'FFFF);
  } else {
    ++quiet_;
    entry.tag = static_cast<std::uint32_t>(write_index_ & 0x7FFF'FFFF);
  }
  const auto place = write_index_++ & (places() - 1);
  parts_.ring.write(place * abi::kQueueEntrySize, entry);
  if (!parts_.ring.in_host_memory()) counters_.entry_writes.fetch_add(1, kRelaxed);
}

// A card that loads the queue meanwhile reads the index in memory: the entries come before it.
void SubmissionRing::publish() {
  link_.platform().write_barrier();
  if (indices_) {
    indices_.store(8, write_index_);
    link_.platform().write_barrier();
  }
  parts_.doorbells->write64(Bytes{parts_.doorbell} * abi::kDoorbellSize, write_index_);
  counters_.doorbells.fetch_add(1, kRelaxed);
}

Status SubmissionRing::replace(QueueBuffer& ring, unsigned log2_places, std::uint64_t read_index) {
  const auto new_places = std::uint64_t{1} << log2_places;
  if (write_index_ - read_index > new_places) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {}: {} entries are waiting, the new ring has {} places",
                            parts_.queue.value, write_index_ - read_index, new_places));
  }
  const auto old_places = places();
  for (auto index = read_index; index < write_index_; ++index) {
    for (Bytes at = 0; at < abi::kQueueEntrySize; at += 8) {
      const auto from = index % old_places * abi::kQueueEntrySize + at;
      ring.store(index % new_places * abi::kQueueEntrySize + at, parts_.ring.load(from));
    }
  }
  link_.platform().write_barrier();
  completions_.note_read(read_index);
  std::swap(parts_.ring, ring);
  parts_.log2_places = log2_places;
  limit_ = std::min(limit_, new_places);
  return {};
}

}  // namespace npu::driver
