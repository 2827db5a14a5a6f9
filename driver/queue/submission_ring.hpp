// SPDX-License-Identifier: Apache-2.0
// The ring of a queue as its user fills it: entries, barrier, doorbell.
#pragma once

#include "driver/queue/completion_ring.hpp"

namespace npu::driver {

// Entries of a kind and a size take about as long as each other.
std::uint8_t size_class_of(const abi::QueueEntry& entry);

class SubmissionRing {
 public:
  struct Parts {
    QueueId queue;
    QueueBuffer ring;
    unsigned log2_places = 0;
    platform::MmioRegion* doorbells = nullptr;  // page of the process
    std::uint16_t doorbell = 0;
    bool can_interrupt = false;
  };

  // `indices`: where the write index is written besides; may be none.
  SubmissionRing(CardLink& link, Parts parts, const QueueBuffer& indices,
                 CompletionRing& completions, ChannelCounters& counters)
      : link_(link),
        parts_(std::move(parts)),
        indices_(indices),
        completions_(completions),
        counters_(counters),
        limit_(places()) {}

  // Of all that follows.
  SpinLock& lock() { return lock_; }

  const QueueBuffer& ring() const { return parts_.ring; }
  std::uint64_t places() const { return std::uint64_t{1} << parts_.log2_places; }
  std::uint64_t write_index() const { return write_index_; }
  // The card checks the first condition; the second keeps completion entries, and outcomes of
  // entries that are overtaken, from being overwritten.
  bool has_room(std::size_t count) const {
    return write_index_ + count - completions_.read_index() <= limit_ &&
           sequence_ + count - completions_.completed() <= completions_.places();
  }
  // The last entries, without completions, never say that they were taken, but their places are
  // needed.
  bool needs_a_sign(std::size_t count) const {
    return !indices_ && quiet_ + count > places() && has_room(1);
  }
  // Entries that moved to a smaller ring may fill it without a completion among them.
  bool is_silent() const { return !indices_ && sequence_ == completions_.completed(); }

  // There is room. The ticket is the last entry's, but for its time.
  QueueTicket enter(const abi::QueueEntry* entries, std::size_t count,
                    const QueueEntryOptions& options);

  // The card is not looking, and has taken what is below `read_index`: what is not moves to `ring`,
  // which is the ring afterwards; `ring` becomes the old one. kInvalidArgument: too small.
  // Submissions keep to the smaller of both until note_known().
  Status replace(QueueBuffer& ring, unsigned log2_places, std::uint64_t read_index);
  // The card has read the descriptor since.
  void note_known() { limit_ = places(); }
  void give_back() { parts_.ring = {}; }

 private:
  void write(abi::QueueEntry entry, const QueueEntryOptions& options, bool completion);
  void publish();

  CardLink& link_;
  Parts parts_;
  const QueueBuffer& indices_;
  CompletionRing& completions_;
  ChannelCounters& counters_;
  SpinLock lock_;
  std::uint64_t write_index_ = 0;
  std::uint64_t limit_;         // entries that the card accepts at a time
  std::uint64_t sequence_ = 0;  // entries with completions
  std::uint64_t quiet_ = 0;     // entries since the last of those
};

}  // namespace npu::driver
