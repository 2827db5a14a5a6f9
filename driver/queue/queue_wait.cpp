// SPDX-License-Identifier: Apache-2.0
// QueueChannel: reading completions and waiting for them.
#include <fmt/format.h>

#include <algorithm>

#include "driver/event/wait_loop.hpp"
#include "driver/queue/fault_text.hpp"
#include "driver/queue/queue_channel.hpp"
#include "driver/support/choice.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {
ConstByteSpan QueueChannel::next_completion() const {
  const auto place = head_.load(std::memory_order_acquire) & (outcomes_.size() - 1);
  return parts_.completions.watched(place * abi::kQueueCompletionSize, abi::kQueueCompletionSize);
}

// Under the completion lock.
void QueueChannel::read_completions() {
  if (closed_.load(std::memory_order_acquire)) return;
  for (;;) {
    const auto head = head_.load(kRelaxed);
    const Bytes at = (head & (outcomes_.size() - 1)) * abi::kQueueCompletionSize;
    const bool host = parts_.completions.in_host_memory();
    const auto rest = parts_.completions.load(at + 8);
    if (!host) counters_.mmio_reads.fetch_add(1, kRelaxed);
    if (!host && rest == ~0ULL) break;  // the card does not answer
    if ((rest >> 48 & 1) != abi::completion_phase(head, parts_.log2_completions)) break;
    link_.platform().read_barrier();
    const auto read_index = parts_.completions.load(at);
    if (!host) counters_.mmio_reads.fetch_add(1, kRelaxed);
    read_one(read_index, rest);
    head_.store(head + 1, std::memory_order_release);
  }
  if (!parts_.indices) return;
  const auto index = parts_.indices.load(0);
  note_read(index);
}

// `rest`: tag, status, phase.
void QueueChannel::read_one(std::uint64_t read_index, std::uint64_t rest) {
  counters_.completions.fetch_add(1, kRelaxed);
  note_read(read_index);
  const auto tag = static_cast<std::uint32_t>(rest);
  const auto status = static_cast<abi::FaultCode>(rest >> 32 & 0xFFFF);
  if (status != abi::FaultCode::kNone && status != abi::FaultCode::kWaitTimeout) {
    counters_.failed.fetch_add(1, kRelaxed);
    if ((rest >> 48 & abi::kCompletionGoesOn) == 0) note_fault(status);
  }
  if ((tag & 0x8000'0000U) == 0) return;  // of a failed entry that did not ask for it
  // The sequence number near the last ones that has these 31 bits.
  auto last = completed_.load(kRelaxed);
  const auto sequence = abi::extend_index(last << 1, tag << 1) >> 1;
  outcomes_[sequence & (outcomes_.size() - 1)] = {sequence, status};
  while (outcomes_[(last + 1) & (outcomes_.size() - 1)].sequence == last + 1) ++last;
  completed_.store(last, std::memory_order_release);
}

tl::unexpected<Error> QueueChannel::fault_error(const QueueTicket& ticket,
                                                abi::FaultCode code) const {
  std::string text =
      fmt::format("queue {}, entry {}: {}", parts_.id.value, ticket.index, to_string(code));
  fault_lock_.lock(link_.clock());
  const SpinLockHolder holder(fault_lock_);
  auto known = std::find_if(faults_.begin(), faults_.end(), [&](const QueueFault& fault) {
    return fault.code == code && fault.index == ticket.index;
  });
  if (known == faults_.end()) {  // the fault that has stopped the queue
    known = std::find_if(faults_.begin(), faults_.end(),
                         [](const QueueFault& fault) { return !fault.goes_on; });
  }
  if (known != faults_.end()) {
    const std::string place = whole_place_of(*known);
    if (known->index != ticket.index) text += fmt::format("; of entry {}", known->index);
    if (!place.empty()) text += "; " + place;
  }
  return fail(ErrorCode::kDeviceFault, text);
}

// Under the completion lock.
Result<bool> QueueChannel::outcome(const QueueTicket& ticket) {
  const auto& known = outcomes_[ticket.sequence & (outcomes_.size() - 1)];
  if (known.sequence == ticket.sequence) {
    if (known.status != abi::FaultCode::kNone) return fault_error(ticket, known.status);
    return true;
  }
  if (known.sequence > ticket.sequence) {
    return fail(ErrorCode::kNotFound,
                fmt::format("queue {}: the outcome of entry {} has been forgotten", parts_.id.value,
                            ticket.index));
  }
  return false;
}

Result<bool> QueueChannel::read(const QueueTicket& ticket) {
  completion_lock_.lock(link_.clock());
  const SpinLockHolder holder(completion_lock_);
  read_completions();
  return outcome(ticket);
}

Result<bool> QueueChannel::look(const QueueTicket& ticket, Instant deadline) {
  // Before the completions are read: what has ended them for good then is in what is found.
  const bool closed = closed_.load(std::memory_order_acquire);
  const bool settled = settled_.load(std::memory_order_acquire);
  auto found = read(ticket);
  if (!found) {  // its record, which says where, came before its completion
    host_.look_for_faults();
    found = read(ticket);
  }
  if (!found || *found) return found;
  if (closed) {
    if (faulted()) return fault_error(ticket, fault());
    return fail(ErrorCode::kAborted, fmt::format("queue {} was destroyed before entry {} was done",
                                                 parts_.id.value, ticket.index));
  }
  host_.look_for_faults();
  if (settled) return fault_error(ticket, fault());
  if (!faulted()) return false;
  // What ran beside the entry at fault may have ended well. Whoever destroys the queue closes it.
  if (!settled_.load(std::memory_order_acquire) && !closed_.load(std::memory_order_acquire)) {
    if (!host_.settle(parts_.id, deadline)) return false;
    settled_.store(true, std::memory_order_release);
  }
  return look(ticket, deadline);
}

Result<bool> QueueChannel::is_done(const QueueTicket& ticket) {
  if (ticket.queue != parts_.id) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a ticket of queue {} at queue {}",
                                                         ticket.queue.value, parts_.id.value));
  }
  if (ticket.sequence == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {}: entry {} was submitted without completion", parts_.id.value,
                            ticket.index));
  }
  const auto done = look(ticket, Instant::never());
  return !done || *done || !may_ask(ticket) ? done : look_with_card(ticket, Instant::never());
}

// What the card has written of an end may have been lost on its way to host memory.
Result<bool> QueueChannel::look_with_card(const QueueTicket& ticket, Instant deadline) {
  if (!closed_.load(std::memory_order_acquire)) {
    if (auto ok = host_.ask_card(parts_.id); !ok) return forward_error(ok);
  }
  return look(ticket, deadline);
}

// Not sooner than a wait would, nor more often.
bool QueueChannel::may_ask(const QueueTicket& ticket) {
  const auto now = link_.clock().now();
  const auto since = now.since_power_up().count();
  if (now - ticket.submitted < kFirstProbe || since < ask_at_.load(kRelaxed)) return false;
  ask_at_.store((now + kFirstProbe).since_power_up().count(), kRelaxed);
  return true;
}

// One wait for one ticket.
class QueueWait final : private WaitLoop {
 public:
  QueueWait(QueueChannel& channel, const QueueTicket& ticket, Instant deadline)
      : WaitLoop(channel.link_.clock(), ticket.interrupt ? channel.parts_.vector : nullptr,
                 deadline),
        channel_(channel),
        ticket_(ticket) {}

  Status run(WaitPolicy policy);

 private:
  // Also true after an error, which is what the wait ends with.
  bool look() override {
    seen_ = channel_.head_.load(std::memory_order_acquire);
    result_ = channel_.look(ticket_, deadline_);
    return !result_ || *result_;
  }
  // If another task has read completions since, this one's may be among them.
  ConstByteSpan watched() const override {
    if (channel_.head_.load(std::memory_order_acquire) != seen_) return {};
    return channel_.next_completion();
  }
  Done probe() override {
    seen_ = channel_.head_.load(std::memory_order_acquire);
    result_ = channel_.look_with_card(ticket_, deadline_);
    return !result_ || *result_;
  }
  void learn_wake_cost(Picoseconds sample) override {
    const auto old = channel_.wake_cost_.load(kRelaxed);
    channel_.wake_cost_.store(old + (sample.count() - old) / 8, kRelaxed);
  }
  WaitPlan plan();
  void learn();

  QueueChannel& channel_;
  const QueueTicket& ticket_;
  Result<bool> result_ = false;
  std::uint64_t seen_ = 0;
  bool is_long_ = false;
};

WaitPlan QueueWait::plan() {
  auto& channel = channel_;
  LatencyEstimate estimate;
  {
    channel.completion_lock_.lock(channel.link_.clock());
    const SpinLockHolder holder(channel.completion_lock_);
    if (!channel.predictor_) channel.predictor_ = std::make_unique<LatencyPredictor>();
    estimate = channel.predictor_->estimate(ticket_.size_class);
  }
  const Picoseconds cost(channel.wake_cost_.load(kRelaxed));
  const auto plan = plan_wait(channel.parts_.adaptive, cost, estimate, ticket_.submitted, now());
  is_long_ = plan.is_long;
  return plan;
}

void QueueWait::learn() {
  auto& channel = channel_;
  const auto latency = now() - ticket_.submitted;
  const Picoseconds cost(channel.wake_cost_.load(kRelaxed));
  const auto sample = woken_by_interrupt_ ? std::max(latency - cost, Picoseconds()) : latency;
  channel.completion_lock_.lock(channel.link_.clock());
  const SpinLockHolder holder(channel.completion_lock_);
  if (channel.predictor_) channel.predictor_->learn(ticket_.size_class, sample, is_long_);
}

Status QueueWait::run(WaitPolicy policy) {
  auto& counters = channel_.counters_;
  if (look()) return result_ ? Status() : Status(forward_error(result_));
  const bool can_sleep = ticket_.interrupt && channel_.parts_.vector != nullptr;
  if (policy == WaitPolicy::kInterrupt && !can_sleep) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("queue {} or its entry has no interrupt", channel_.id().value));
  }
  const bool planned = policy == WaitPolicy::kAdaptive && can_sleep;
  const Done done = wait(policy, planned ? plan() : WaitPlan{});
  if (!done) return forward_error(done);
  if (!*done) {
    counters.timeouts.fetch_add(1, kRelaxed);
    return fail(
        ErrorCode::kTimeout,
        fmt::format("queue {}: entry {} is not complete, the card has taken {}",
                    channel_.id().value, ticket_.index, channel_.read_index_.load(kRelaxed)));
  }
  auto& counter = found_by_probe_       ? counters.missed
                  : woken_by_interrupt_ ? counters.slept
                                        : counters.spun;
  counter.fetch_add(1, kRelaxed);
  if (!result_) return forward_error(result_);
  if (planned && !found_by_probe_) learn();
  return {};
}

Status QueueChannel::wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline) {
  if (ticket.sequence == 0 || ticket.queue != parts_.id) return forward_error(is_done(ticket));
  if (auto ok = check_choice("policy", policy, WaitPolicy::kAdaptive); !ok) return ok;
  const auto begin = link_.clock().now();
  const platform::CauseScope scope(
      link_.platform().tracer(),
      platform::queue_cause(parts_.device_index, parts_.id.value, ticket.index));
  counters_.waits.fetch_add(1, kRelaxed);
  const Status status = QueueWait(*this, ticket, deadline).run(policy);
  trace(platform::Activity::kEventWait, begin, ticket);
  return status;
}

}  // namespace npu::driver
