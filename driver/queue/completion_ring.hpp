// SPDX-License-Identifier: Apache-2.0
// The completion ring of a queue as its user reads it: how far the card is, and how entries have
// ended. The tag of an entry carries its sequence number, by which outcomes are found in any order.
#pragma once

#include <atomic>
#include <vector>

#include "driver/link/card_link.hpp"
#include "driver/queue/channel_counters.hpp"
#include "driver/queue/channel_faults.hpp"
#include "driver/queue/queue_buffer.hpp"

namespace npu::driver {

class CompletionRing {
 public:
  // `indices`: where the card writes its read index besides; may be none.
  CompletionRing(CardLink& link, QueueId queue, QueueBuffer ring, unsigned log2_places,
                 const QueueBuffer& indices, ChannelFaults& faults, ChannelCounters& counters)
      : link_(link),
        queue_(queue),
        ring_(std::move(ring)),
        log2_places_(log2_places),
        indices_(indices),
        faults_(faults),
        counters_(counters),
        outcomes_(std::size_t{1} << log2_places) {}

  std::uint64_t places() const { return std::uint64_t{1} << log2_places_; }
  // Completions read.
  std::uint64_t head() const { return head_.load(std::memory_order_acquire); }
  // Entries with sequence numbers up to it are complete.
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  // Entries that the card has taken, as far as known.
  std::uint64_t read_index() const { return read_index_.load(std::memory_order_acquire); }
  // Changes with each of both.
  std::uint64_t moves() const { return read_index_.load(kRelaxed) + completed_.load(kRelaxed); }
  // Told by completions, by the index in memory, and by the card when it is asked: in any order.
  void note_read(std::uint64_t index) {
    auto known = read_index_.load(kRelaxed);
    while (index > known && !read_index_.compare_exchange_weak(known, index)) {
    }
  }

  // Where the next completion will be, if that is in host memory.
  ConstByteSpan next() const;
  // Reads what the card has written.
  void read();
  // The same, and whether the entry is done. kDeviceFault: it has failed; kNotFound: its outcome
  // has been forgotten.
  Result<bool> read(const QueueTicket& ticket);
  // What is done stays done; nothing is read any more.
  void close();
  bool is_closed() const { return closed_.load(std::memory_order_acquire); }

 private:
  struct Outcome {
    std::uint64_t sequence = 0;
    abi::FaultCode status = abi::FaultCode::kNone;
  };

  // Under the lock.
  void read_all();
  void read_one(std::uint64_t read_index, std::uint64_t rest);
  Result<bool> outcome(const QueueTicket& ticket) const;

  CardLink& link_;
  const QueueId queue_;
  const QueueBuffer ring_;
  const unsigned log2_places_;
  const QueueBuffer& indices_;
  ChannelFaults& faults_;
  ChannelCounters& counters_;
  std::atomic<bool> closed_{false};
  SpinLock lock_;
  std::atomic<std::uint64_t> head_{0}, completed_{0}, read_index_{0};
  std::vector<Outcome> outcomes_;  // by sequence
};

}  // namespace npu::driver
