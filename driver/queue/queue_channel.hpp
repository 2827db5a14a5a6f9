// SPDX-License-Identifier: Apache-2.0
// The user-space side of a queue: ring, doorbell, completion ring. Submitting takes the submission
// lock, reading completions the completion lock; both are the queue's own, and nobody who holds one
// waits for the card.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "driver/device/card_link.hpp"
#include "driver/event/latency_predictor.hpp"
#include "driver/queue/queue_buffer.hpp"
#include "driver/support/relaxed.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/queue.hpp"

namespace npu::driver {

// What a queue asks its process.
class QueueHost {
 public:
  virtual ~QueueHost() = default;
  // Tells the queues at fault of what is new in the log.
  virtual void look_for_faults() = 0;
  // Returns when nothing of the queue at fault runs any more and all its completions are written.
  // False: not yet, because it is being destroyed or a millisecond behind `deadline` is over.
  virtual bool settle(QueueId queue, Instant deadline) = 0;
  // Tells the queue of a fault whose record was lost. Fails if the card does not answer, and with
  // kAborted if it knows nothing of its queues any more.
  virtual Status ask_card(QueueId queue) = 0;
  // How many of its entries the card has taken, if it says so by `deadline`.
  virtual std::optional<std::uint64_t> ask_read_index(QueueId queue, Instant deadline) = 0;
};

struct QueueChannelParts {
  QueueId id;
  std::uint32_t device_index = 0;
  platform::MmioRegion* doorbells = nullptr;  // page of the process
  std::uint16_t doorbell = 0;
  QueueBuffer ring, completions, indices;  // `indices`: read index, write index; may be none
  unsigned log2_ring = 0, log2_completions = 0;
  platform::InterruptVector* vector = nullptr;  // null: none
  AdaptiveOptions adaptive;
};

class QueueChannel {
 public:
  QueueChannel(CardLink& link, QueueHost& host, QueueChannelParts parts);

  // --- For users. Queue has what they say.
  QueueId id() const { return parts_.id; }
  std::uint16_t doorbell() const { return parts_.doorbell; }
  bool faulted() const { return fault() != abi::FaultCode::kNone; }
  Result<QueueTicket> submit(const abi::QueueEntry* entries, std::size_t count, Instant deadline,
                             const QueueEntryOptions& options);
  Result<bool> is_done(const QueueTicket& ticket);
  Status wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline);
  QueueCounters counters() const;

  // --- For the manager.
  const QueueBuffer& ring() const { return parts_.ring; }
  const QueueBuffer& completions() const { return parts_.completions; }
  const QueueBuffer& indices() const { return parts_.indices; }
  // The card is not looking at the ring, and has taken what is below `read_index`: what is not
  // moves to `ring`, which is the ring afterwards; `ring` becomes the old one. kInvalidArgument:
  // too small.
  // Submissions keep to the smaller of both until note_ring_known().
  Status replace_ring(QueueBuffer& ring, unsigned log2_entries, std::uint64_t read_index);
  // The card has read the descriptor since the last replace_ring().
  void note_ring_known();
  void note_fault(const QueueFault& fault);
  // The card has forgotten the queue, and users hear of it.
  void close();
  // After close(). What users may still look at goes with this object.
  void give_back_ring();

 private:
  friend class QueueWait;

  struct Outcome {
    std::uint64_t sequence = 0;
    abi::FaultCode status = abi::FaultCode::kNone;
  };
  struct Counters {
    std::atomic<std::uint64_t> submissions{0}, entries{0}, doorbells{0}, entry_writes{0},
        mmio_reads{0}, ring_full{0}, rejected{0}, completions{0}, failed{0}, waits{0}, spun{0}, slept{0},
        missed{0}, timeouts{0};
  };

  void note_fault(abi::FaultCode code);
  abi::FaultCode fault() const { return fault_.load(std::memory_order_acquire); }
  Status usable() const;
  bool has_room(std::size_t count) const;
  bool needs_a_sign(std::size_t count) const;
  bool is_silent() const;
  QueueTicket enter(const abi::QueueEntry* entries, std::size_t count,
                    const QueueEntryOptions& options);
  void write(abi::QueueEntry entry, const QueueEntryOptions& options, bool completion);
  Status wait_for_room(std::size_t count, Instant deadline, bool silent);
  void note_read(std::uint64_t index);
  void publish();
  ConstByteSpan next_completion() const;
  // Under the completion lock.
  void read_completions();
  void read_one(std::uint64_t read_index, std::uint64_t rest);
  Result<bool> outcome(const QueueTicket& ticket);
  // Not under a lock.
  Result<bool> read(const QueueTicket& ticket);
  Result<bool> look(const QueueTicket& ticket, Instant deadline);
  Result<bool> look_with_card(const QueueTicket& ticket, Instant deadline);
  bool may_ask(const QueueTicket& ticket);
  tl::unexpected<Error> fault_error(const QueueTicket& ticket, abi::FaultCode code) const;
  // Of a submission: with so many entries before the ticket's.
  void trace(platform::Activity activity, Instant begin, const QueueTicket& ticket,
             std::size_t entries_before = 0);

  CardLink& link_;
  QueueHost& host_;
  QueueChannelParts parts_;
  std::atomic<bool> closed_{false};
  std::atomic<abi::FaultCode> fault_{abi::FaultCode::kNone};
  std::atomic<bool> settled_{false};     // after a fault: no more completions
  std::atomic<std::int64_t> ask_at_{0};  // the card itself, next; ps
  mutable SpinLock fault_lock_;          // the innermost
  std::vector<QueueFault> faults_;       // for messages

  SpinLock submit_lock_;
  std::uint64_t write_index_ = 0;
  std::uint64_t ring_limit_;    // entries that the card accepts at a time
  std::uint64_t sequence_ = 0;  // entries with completions
  std::uint64_t quiet_ = 0;     // entries since the last of those

  SpinLock completion_lock_;
  std::atomic<std::uint64_t> head_{0};        // completions read
  std::atomic<std::uint64_t> completed_{0};   // sequence numbers up to it are complete
  std::atomic<std::uint64_t> read_index_{0};  // the card's, as far as known
  std::vector<Outcome> outcomes_;             // by sequence
  std::unique_ptr<LatencyPredictor> predictor_;
  std::atomic<std::int64_t> wake_cost_;
  std::uint32_t submit_track_ = 0, wait_track_ = 0;
  Counters counters_;
};

}  // namespace npu::driver
