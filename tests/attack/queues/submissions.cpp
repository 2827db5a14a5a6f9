// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/submissions.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::attack {

namespace {

constexpr std::size_t kMostAwaited = 64;

bool failed_with(const Status& status, ErrorCode code) {
  return !status && status.error().code == code;
}

}  // namespace

Submissions::Batch Submissions::compose(Lane& lane, std::size_t most, bool wrong) {
  Batch batch;
  const auto count = random_.percent(60) ? 1 : 1 + random_.below(most);
  if (wrong) batch.wrong = static_cast<int>(random_.below(count));
  auto touched = lane.touched;
  auto recorded = lane.recorded;
  for (std::size_t i = 0; i < count; ++i) {
    RightEntry right;
    if (static_cast<int>(i) == batch.wrong) {
      lane.wrong = wrong_.any(lane);
      right.entry = lane.wrong.entry;
    } else {
      do {
        right = right_.any(lane, recorded);
      } while (right.outcome == Outcome::kWaitTimeout && count > 1);
    }
    recorded = std::max(recorded, right.records);
    if ((touched & right.touches) != 0) batch.barrier = true;
    touched |= right.touches;
    batch.entries.push_back(right.entry);
    batch.right.push_back(right);
  }
  if (random_.percent(10)) batch.barrier = true;
  return batch;
}

// Long if the queue gets on; what a deadline in the past may do, too.
Instant Submissions::deadline_for(const Lane& lane) {
  if (random_.percent(15)) return Instant(Picoseconds(static_cast<std::int64_t>(random_.below(2))));
  if (world_.stopped || !process_.runs(lane) || random_.percent(15)) {
    return world_.in(any_time(random_, 100_us));
  }
  if (!process_.flows()) return world_.in(any_time(random_, 500_us));
  return random_.percent(5) ? Instant::never() : world_.in(1_s);
}

void Submissions::send(Lane& lane, const Batch& batch) {
  driver::QueueEntryOptions options;
  options.barrier = batch.barrier;
  options.completion = random_.percent(70) || batch.right.back().outcome == Outcome::kWaitTimeout;
  options.interrupt = random_.percent(70);
  const auto deadline = deadline_for(lane);
  const bool sure = deadline > world_.in(900_ms) && !world_.stopped;
  Result<driver::QueueTicket> ticket;
  {
    const TimedCall timed(world_, "submit()", deadline, kCall);
    ticket = lane.queue->submit(batch.entries.data(), batch.entries.size(), deadline, options);
  }
  if (ticket) {
    return note(lane, batch, *ticket, options.completion, options.interrupt);
  }
  const auto code = ticket.error().code;
  if (world_.stopped || (code == ErrorCode::kQueueFull && !sure)) return;
  if (code == ErrorCode::kDeviceFault && lane.poisoned) return;
  process_.find(lane, fmt::format("submit() of {}: {}", batch.entries.size(), text(ticket)));
}

void Submissions::note(Lane& lane, const Batch& batch, const driver::QueueTicket& ticket,
                       bool completion, bool interrupt) {
  if (ticket.queue != lane.queue->id() || (ticket.sequence != 0) != completion ||
      ticket.index + 1 < lane.in_ring + batch.entries.size()) {
    process_.find(lane,
                  fmt::format("a ticket of queue {}, index {}, sequence {} after {} entries",
                              ticket.queue.value, ticket.index, ticket.sequence, lane.in_ring));
  }
  lane.in_ring = ticket.index + 1;
  for (std::size_t i = 0; i < batch.right.size(); ++i) {
    const auto& right = batch.right[i];
    if (static_cast<int>(i) == batch.wrong) {
      lane.poisoned = true;
      lane.wrong_at = lane.journal.size();
      lane.wrong_number = lane.submitted;
      lane.wrong_index = ticket.index + 1 - batch.right.size() + i;
      ++process_.world.faults;
    }
    lane.journal.add(right.operation);
    lane.touched = batch.barrier ? right.touches : lane.touched | right.touches;
    if (!lane.poisoned) lane.recorded = std::max(lane.recorded, right.records);
    if (right.stamp >= 0) {
      lane.stamped.push_back({static_cast<std::size_t>(right.stamp), lane.submitted});
    }
    ++lane.submitted;
  }
  lane.awaited.push_back({ticket, lane.journal.size(), lane.submitted - 1,
                          batch.right.back().outcome, interrupt && lane.options.interrupt});
  if (lane.awaited.size() > kMostAwaited) lane.awaited.pop_front();
  if (batch.wrong >= 0) heal(lane);
}

void Submissions::submit_some(Lane& lane) {
  const auto ring = std::size_t{1} << lane.log2_ring;
  const auto batch = compose(lane, std::min<std::size_t>(ring, 24), false);
  send(lane, batch);
}

void Submissions::submit_wrong(Lane& lane) {
  if (lane.poisoned) return submit_some(lane);
  const auto ring = std::size_t{1} << lane.log2_ring;
  send(lane, compose(lane, std::min<std::size_t>(ring, 6), true));
}

// A task of its own would be none the wiser: the highest value ends all waits.
void Submissions::heal(Lane& lane) {
  if (process_.evictions > 0) process_.heal_later = true;
  if (process_.heal_later || world_.stopped || !process_.healer) return;
  const auto ticket = process_.healer->submit(
      driver::entries::record_event(lane.signal, lane.recorded), world_.in(1_s));
  if (world_.stopped) return;  // meanwhile
  if (!ticket) return process_.find(lane, "a record elsewhere: " + text(ticket));
  const auto status = process_.healer->wait(*ticket, driver::WaitPolicy::kPolling, world_.in(1_s));
  if (!status && !world_.stopped) process_.find(lane, "a record elsewhere: " + text(status));
}

void Submissions::judge(Lane& lane, const Awaited& awaited, const Status& status,
                        bool may_time_out) {
  if (process_.world.stopped) return;
  if (may_time_out && failed_with(status, ErrorCode::kTimeout)) return;
  const auto later = lane.submitted - 1 - awaited.number;
  const bool may_be_forgotten = 2 * later + 4 >= std::uint64_t{1} << lane.log2_completions;
  if (may_be_forgotten && failed_with(status, ErrorCode::kNotFound)) return;
  const bool fault = failed_with(status, ErrorCode::kDeviceFault);
  bool right = status.has_value();
  if (awaited.ticket.sequence == 0) {
    right = failed_with(status, ErrorCode::kInvalidArgument);
  } else if (awaited.outcome == Outcome::kWaitTimeout) {
    right = fault;
  } else if (lane.poisoned && awaited.number == lane.wrong_number) {
    right = fault;
  } else if (lane.poisoned && awaited.number > lane.wrong_number) {
    right = fault || (right && !lane.options.in_order);
  } else if (lane.poisoned && !lane.options.in_order) {
    right = fault || right;
  }
  if (!right) {
    return process_.find(
        lane,
        fmt::format("wait() for entry {} of {} (wrong one: {}), {}{}: {}", awaited.number,
                    lane.submitted, lane.poisoned ? std::to_string(lane.wrong_number) : "none",
                    awaited.ticket.sequence == 0 ? "no completion, " : "",
                    awaited.outcome == Outcome::kWaitTimeout ? "times out" : "ends well",
                    text(status)));
  }
  if (status && lane.options.in_order) lane.known_done = std::max(lane.known_done, awaited.end);
}

void Submissions::wait_one(Lane& lane) {
  if (lane.awaited.empty()) return;
  const auto awaited = random_.percent(40) ? lane.awaited.back() : random_.in(lane.awaited);
  if (random_.percent(10)) {
    const TimedCall timed(world_, "is_done()", {}, kSettling + kCall);
    const auto done = lane.queue->is_done(awaited.ticket);
    Status status;
    if (!done) status = forward_error(done);
    if (!done || *done) judge(lane, awaited, status, false);
    return;
  }
  auto deadline = deadline_for(lane);
  if (!process_.flows() && deadline > world_.in(600_us)) deadline = world_.in(500_us);
  const bool sure = deadline > world_.in(900_ms);
  const auto policy = random_.of({driver::WaitPolicy::kPolling, driver::WaitPolicy::kInterrupt,
                                  driver::WaitPolicy::kAdaptive});
  Status status;
  {
    const TimedCall timed(world_, "wait()", deadline, kSettling + kCall);
    status = lane.queue->wait(awaited.ticket, policy, deadline);
  }
  const bool sleeps = policy == driver::WaitPolicy::kInterrupt;
  if (sleeps && !awaited.interrupt && failed_with(status, ErrorCode::kUnsupported)) return;
  judge(lane, awaited, status, !sure);
}

void Submissions::wait_all(Lane& lane) {
  const auto barrier = driver::entries::barrier();
  const auto ticket = lane.queue->submit(barrier, world_.in(1_s));
  if (!ticket) {
    if (!lane.poisoned && !world_.stopped) process_.find(lane, "submit(barrier): " + text(ticket));
    return;
  }
  Batch batch;
  batch.right.resize(1);
  batch.entries.push_back(barrier);
  note(lane, batch, *ticket, true, true);
  const auto status = lane.queue->wait(*ticket, driver::WaitPolicy::kAdaptive, world_.in(1_s));
  judge(lane, lane.awaited.back(), status, false);
}

// The fault must be there once a wait for the entry has ended, or the queue has stopped.
void Submissions::look_for_fault(Lane& lane) {
  const auto limit = world_.in(1_s);
  while (!lane.fault_seen && world_.now() < limit) {
    take_faults();
    if (!lane.fault_seen) world_.pass(5_us);
  }
  if (!lane.fault_seen && !world_.stopped) process_.find(lane, "no fault is reported");
  if (!lane.queue->faulted() && !world_.stopped) process_.find(lane, "faulted() after its fault");
}

void Submissions::match(const driver::QueueFault& fault) {
  const auto described =
      fmt::format("a fault of queue {}: {}, index {}, address {:#x}, opcode {:#x}",
                  fault.queue ? static_cast<int>(fault.queue->value) : -1,
                  abi::to_string(fault.code), fault.index, fault.address, fault.opcode);
  if (fault.pasid != process_.context->pasid()) {
    world_.find(fmt::format("PASID {} takes {} of PASID {}", process_.context->pasid(), described,
                            fault.pasid));
  }
  for (const auto& lane : process_.lanes) {
    if (!lane->queue || !fault.queue || lane->queue->id() != *fault.queue) continue;
    if (!lane->poisoned || lane->fault_seen) {
      return process_.find(*lane, "nothing wrong, or a second one: " + described);
    }
    lane->fault_seen = true;
    const auto& wrong = lane->wrong;
    const bool code =
        wrong.codes.empty() || std::count(wrong.codes.begin(), wrong.codes.end(), fault.code) > 0;
    const bool place = wrong.size == 0 || fault.address - wrong.address < wrong.size;
    if (!code || !place || fault.index != lane->wrong_index || fault.opcode != wrong.entry.opcode) {
      process_.find(*lane,
                    fmt::format("{} expected at index {}, address {:#x}; {}",
                                wrong.codes.empty() ? "any fault" : abi::to_string(wrong.codes[0]),
                                lane->wrong_index, wrong.address, described));
    }
    return;
  }
  world_.find("of no queue that there is: " + described);
}

void Submissions::take_faults() {
  if (world_.stopped) return;
  for (const auto& fault : process_.context->take_faults()) {
    ++process_.faults;
    match(fault);
  }
}

}  // namespace npu::attack
