// SPDX-License-Identifier: Apache-2.0
// The user-space side of a queue: ring, doorbell, completion ring. Submitting takes the submission
// ring's lock, reading completions the completion ring's; both are the queue's own, and nobody who
// holds one waits for the card.
#pragma once

#include <atomic>
#include <optional>

#include "driver/queue/submission_ring.hpp"
#include "driver/queue/wait_history.hpp"

namespace npu::driver {

// What a queue asks its process.
class QueueHost {
 public:
  virtual ~QueueHost() = default;
  // Tells the queues at fault of what is new in the log.
  virtual void look_for_faults() = 0;
  // Returns when nothing of the queue at fault runs any more and all its completions are written.
  // False: not yet, because it is being destroyed or a millisecond behind `deadline` is over.
  virtual bool await_stopped(QueueId queue, Instant deadline) = 0;
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
  QueueId id() const { return id_; }
  std::uint16_t doorbell() const { return doorbell_; }
  bool faulted() const { return faults_.any(); }
  Result<QueueTicket> submit(const abi::QueueEntry* entries, std::size_t count, Instant deadline,
                             const QueueEntryOptions& options);
  Result<bool> is_done(const QueueTicket& ticket);
  Status wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline);
  QueueCounters counters() const { return counters_.read(); }

  // --- For those who wait. Whether the ticket's entry is done; after a fault, when nothing of the
  // queue runs any more, for which there is time until `deadline` and a little more.
  Result<bool> look(const QueueTicket& ticket, Instant deadline);
  // The same after a question to the card: what it has written of an end may have been lost on its
  // way to host memory.
  Result<bool> look_with_card(const QueueTicket& ticket, Instant deadline);

  // --- For the manager.
  const QueueBuffer& ring() const { return submissions_.ring(); }
  // As SubmissionRing::replace(), until note_ring_known().
  Status replace_ring(QueueBuffer& ring, unsigned log2_entries, std::uint64_t read_index);
  void note_ring_known();
  void note_fault(const QueueFault& fault) { faults_.note(fault); }
  // The card has forgotten the queue, and users hear of it.
  void close();
  // After close(). What users may still look at goes with this object.
  void give_back_ring();

 private:
  Status usable() const;
  QueueTicket enter(const abi::QueueEntry* entries, std::size_t count, Instant begin,
                    const QueueEntryOptions& options);
  Status wait_for_room(std::size_t count, Instant deadline, bool silent);
  bool may_ask(const QueueTicket& ticket);
  // `detail`: entries before the ticket's; of a wait, whether it timed out.
  void trace(platform::Activity activity, Instant begin, const QueueTicket& ticket,
             std::uint64_t detail);

  CardLink& link_;
  QueueHost& host_;
  const QueueId id_;
  const std::uint32_t device_index_;
  const std::uint16_t doorbell_;
  platform::InterruptVector* const vector_;  // null: none
  std::atomic<std::int64_t> ask_at_{0};      // the card itself, next; ps
  ChannelCounters counters_;
  ChannelFaults faults_;
  CompletionRing completions_;
  SubmissionRing submissions_;
  const QueueBuffer indices_;
  WaitHistory history_;
  std::uint32_t submit_track_ = 0, wait_track_ = 0;
};

}  // namespace npu::driver
