// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/life.hpp"

#include <utility>

#include "npu/driver/queue_entries.hpp"
#include "tests/attack/queues/options.hpp"

namespace npu::attack {

using driver::QueueEnd;
using driver::QueueMemory;
using Ring = driver::QueueChange::Ring;

void Life::create(Lane& lane) {
  lane.options = any_queue_options(random_);
  const bool full = process_.context->queue_count() >= process_.options.max_queues;
  Result<std::unique_ptr<driver::Queue>> made;
  {
    const TimedCall timed(world_, "create_queue()", {}, kCommands);
    made = process_.context->create_queue(lane.options);
  }
  if (!made) {
    const bool right = world_.stopped || ((full || process_.disturbed) &&
                                          made.error().code == ErrorCode::kOutOfResources);
    // Device memory for a ring is in one piece.
    const bool large = lane.options.ring.memory == QueueMemory::kDevice &&
                       made.error().code == ErrorCode::kOutOfMemory &&
                       lane.options.ring.log2_entries > 15;
    if (!right && !large) world_.find("create_queue(): " + text(made));
    return;
  }
  if (full && !process_.disturbed) world_.find("more queues than max_queues");
  Lane fresh;
  fresh.host = std::move(lane.host);
  fresh.cell = lane.cell;
  fresh.memory = lane.memory;
  fresh.signal = lane.signal;
  fresh.recorded = lane.recorded;
  fresh.options = lane.options;
  lane = std::move(fresh);
  lane.queue = std::move(*made);
  lane.log2_ring = lane.options.ring.log2_entries;
  lane.log2_completions =
      lane.options.log2_completions == 0 ? lane.log2_ring : lane.options.log2_completions;
  if (!world_.stopped) cells_.reset(lane);
}

// A deadline that is met, or any.
Instant Life::hold_deadline(bool& sure) {
  sure = random_.percent(80) && !world_.stopped;
  return sure ? world_.in(1_s) : world_.in(any_time(random_, 100_us));
}

void Life::suspend(Lane& lane) {
  const auto id = lane.queue->id();
  bool sure = false;
  const auto deadline = hold_deadline(sure);
  std::vector<driver::QueueResult> results;
  {
    const TimedCall timed(world_, "suspend()", deadline, kCall);
    results = process_.context->suspend({id}, deadline);
  }
  if (world_.stopped) return;
  const bool done = results == std::vector{driver::QueueResult::kDone};
  const bool error = results == std::vector{driver::QueueResult::kError};
  if (!done && !(error && !sure)) process_.find(lane, "suspend() failed");
  if (done) lane.suspended = true;
}

void Life::resume(Lane& lane) {
  const auto deadline = world_.in(1_s);
  const TimedCall timed(world_, "resume()", deadline, kCall);
  const auto results = process_.context->resume({lane.queue->id()}, deadline);
  if (results != std::vector{driver::QueueResult::kDone} && !world_.stopped) {
    process_.find(lane, "resume() failed");
  }
  lane.suspended = false;
}

// The fault of a wrong entry may be known or not.
void Life::change(Lane& lane, const driver::QueueChange& change, const char* what) {
  Status status;
  {
    const TimedCall timed(world_, "update()", {}, kCommands);
    status = process_.context->update(lane.queue->id(), change);
  }
  if (world_.stopped) return;
  const bool fault = !status && status.error().code == ErrorCode::kDeviceFault;
  if (!status && !(fault && lane.poisoned)) {
    process_.find(lane, fmt::format("update({}): {}", what, text(status)));
  }
  if (!status) return;
  if (change.ring_change != Ring::kKeep) lane.null_ring = change.ring_change == Ring::kNullRing;
  if (change.percentage) lane.disabled = *change.percentage == 0;
}

void Life::update(Lane& lane) {
  driver::QueueChange what;
  const bool may_hold = !process_.disturbed;
  if (random_.percent(30)) what.priority = static_cast<unsigned>(random_.below(16));
  if (random_.percent(30)) {
    what.percentage =
        may_hold && random_.percent(40) ? 0 : 1 + static_cast<unsigned>(random_.below(100));
  }
  if (random_.percent(30)) what.quantum = random_.of({Picoseconds(), 1_us, 20_us, 1000_s});
  if (random_.percent(30)) what.core_mask = any_core_mask(random_);
  if (may_hold && random_.percent(20)) what.ring_change = Ring::kNullRing;
  if (random_.percent(20)) what.ring_change = Ring::kRestore;
  change(lane, what, "several");
}

// Entries that wait must fit; how many do, the card knows better than we do.
void Life::replace(Lane& lane) {
  driver::QueueChange what;
  what.ring_change = Ring::kReplace;
  const auto most = std::min(lane.log2_completions, lane.log2_ring + 3);
  what.ring.log2_entries =
      abi::kMinLog2Ring + static_cast<unsigned>(random_.below(most - abi::kMinLog2Ring + 1));
  what.ring.memory = random_.percent(50) ? QueueMemory::kHost : QueueMemory::kDevice;
  Status status;
  {
    const TimedCall timed(world_, "update(kReplace)", {}, kCommands);
    status = process_.context->update(lane.queue->id(), what);
  }
  if (status) {
    lane.log2_ring = what.ring.log2_entries;
    lane.null_ring = false;
  }
  if (status || world_.stopped) return;
  const auto code = status.error().code;
  const bool smaller = what.ring.log2_entries < lane.log2_ring;
  if (code == ErrorCode::kDeviceFault && lane.poisoned) return;
  if (code == ErrorCode::kInvalidArgument && smaller) return;
  const bool large = what.ring.memory == QueueMemory::kDevice && what.ring.log2_entries > 15;
  if (code == ErrorCode::kOutOfMemory && large) return;
  process_.find(lane, fmt::format("update() from 2^{} to 2^{}: {}", lane.log2_ring,
                                  what.ring.log2_entries, text(status)));
}

void Life::evict() {
  bool sure = false;
  const auto deadline = hold_deadline(sure);
  Status status;
  {
    const TimedCall timed(world_, "evict()", deadline, kCall);
    status = process_.context->evict(deadline);
  }
  ++process_.evictions;
  if (!status && sure) world_.find("evict(): " + text(status));
}

void Life::restore() {
  bool sure = false;
  const auto deadline = hold_deadline(sure);
  Status status;
  {
    const TimedCall timed(world_, "restore()", deadline, kCall);
    status = process_.context->restore(deadline);
  }
  if (process_.evictions == 0) {
    if (status || status.error().code != ErrorCode::kInvalidArgument) {
      if (!process_.disturbed && !world_.stopped) {
        world_.find("restore() without evict(): " + text(status));
      }
    }
    return;
  }
  if (status) --process_.evictions;
  if (!status && sure) world_.find("restore(): " + text(status));
  if (process_.context->evictions() != process_.evictions && !process_.disturbed &&
      !world_.stopped) {
    world_.find(fmt::format("evicted {} times, must be {}", process_.context->evictions(),
                            process_.evictions));
  }
}

void Life::enable(Lane& lane) {
  if (!lane.held()) return;
  if (lane.suspended) resume(lane);
  if (!lane.null_ring && !lane.disabled) return;
  driver::QueueChange what;
  what.ring_change = Ring::kRestore;
  what.percentage = 100;
  change(lane, what, "enable");
}

void Life::settle() {
  for (int attempt = 0; process_.evictions > 0 && attempt < 40 && !world_.give_up(); ++attempt) {
    restore();
  }
  for (const auto& lane : process_.lanes) {
    if (lane->queue) enable(*lane);
    if (lane->poisoned) lane->null_ring = lane->disabled = false;
  }
  if (std::exchange(process_.heal_later, false)) {
    for (const auto& lane : process_.lanes) submissions_.heal(*lane);
  }
  for (const auto& lane : process_.lanes) {
    if (!lane->queue || !lane->poisoned) continue;
    if (!world_.stopped) submissions_.look_for_fault(*lane);
    destroy(*lane);
  }
}

void Life::verify(Lane& lane) {
  if (lane.poisoned || !process_.flows() || world_.stopped) return;
  submissions_.wait_all(lane);
  const auto status = process_.context->query(lane.queue->id());
  if (!status) return process_.find(lane, "query(): " + text(status));
  if (status->completed != status->write_index || status->read_index != status->write_index ||
      status->write_index != lane.in_ring || status->faulted) {
    process_.find(lane, fmt::format("{} entries submitted, of which the card knows {}, has taken "
                                    "{} and completed {}",
                                    lane.in_ring, status->write_index, status->read_index,
                                    status->completed));
  }
  if (const auto wrong = lane.journal.all_done(cells_.read(lane))) process_.find(lane, *wrong);
  cells_.check_stamps(lane);
  lane.journal.begin(lane.journal.last());
  lane.known_done = 0;
  lane.stamped.clear();
  for (auto& awaited : lane.awaited) awaited.end = 0;
}

void Life::query(Lane& lane) {
  const TimedCall timed(world_, "query()", {}, kCommands);
  const auto status = process_.context->query(lane.queue->id());
  if (world_.stopped) return;
  if (!status) return process_.find(lane, "query(): " + text(status));
  const bool indices = status->completed <= status->read_index &&
                       status->read_index <= status->write_index &&
                       status->write_index >= lane.in_ring - (lane.poisoned ? lane.in_ring : 0) &&
                       status->write_index - status->read_index <= 1ULL << lane.log2_ring;
  bool flags = status->ring.log2_entries == lane.log2_ring && (!status->faulted || lane.poisoned);
  if (!process_.disturbed) {
    flags = flags && status->suspended == lane.suspended && status->null_ring == lane.null_ring &&
            (status->percentage == 0) == lane.disabled && status->evictions == process_.evictions &&
            status->active == (process_.runs(lane) && !status->faulted);
  }
  if (!indices || !flags) {
    process_.find(lane, fmt::format("query(): indices {} {} {} of {}, suspended {}, null {}, {} %, "
                                    "evicted {}, active {}, faulted {}, 2^{}",
                                    status->completed, status->read_index, status->write_index,
                                    lane.in_ring, status->suspended, status->null_ring,
                                    status->percentage, status->evictions, status->active,
                                    status->faulted, status->ring.log2_entries));
  }
}

// --- The end ---------------------------------------------------------------------------------

// What takes long, or for ever.
void Life::make_busy(Lane& lane) {
  const auto deadline = world_.in(50_us);
  const auto wait = driver::entries::wait_event(lane.signal, lane.recorded + (1ULL << 50));
  const auto ticket = lane.queue->submit(wait, deadline);
  if (!ticket) return;
  lane.in_ring = ticket->index + 1;
  ++lane.submitted;
  lane.journal.add({});
}

void Life::destroy(Lane& lane) {
  const auto sequence_of_end = lane.journal.size();
  const bool blocked = random_.percent(20) && !lane.poisoned && !lane.suspended;
  if (blocked) make_busy(lane);
  const bool endless = blocked && lane.journal.size() > sequence_of_end;
  const bool flows = process_.flows() && !endless;
  const bool long_deadline = (flows && random_.percent(60)) || lane.poisoned;
  const auto deadline = long_deadline ? world_.in(1_s) : world_.in(any_time(random_, 2_ms) - 1_us);
  Result<QueueEnd> end = QueueEnd::kReset;
  {
    const TimedCall timed(world_, "destroy()", deadline, kSettling + kCall);
    end = process_.context->destroy(*lane.queue, deadline);
  }
  if (world_.stopped) return after_end(lane);
  const auto code = end ? ErrorCode::kAborted : end.error().code;
  if (!end && code == ErrorCode::kBusy && lane.suspended) return resume(lane);
  if (!end && code == ErrorCode::kBusy && process_.disturbed && !long_deadline && !endless) return;
  for (int i = 0;
       endless && process_.disturbed && i < 100 && !end && end.error().code == ErrorCode::kBusy;
       ++i) {
    world_.pass(10_us);
    end = process_.context->destroy(*lane.queue, world_.in(10_us));
  }
  if (!end && code == ErrorCode::kTimeout && process_.disturbed) {
    end = process_.context->destroy(*lane.queue, world_.in(1_s));
  }
  if (!end || (*end == QueueEnd::kReset && flows && long_deadline && !lane.poisoned)) {
    process_.find(lane,
                  fmt::format("destroy() with {} deadline{}: {}", long_deadline ? "a long" : "any",
                              endless ? ", endless" : "", end ? "kReset" : text(end)));
  }
  if (!end) return after_end(lane);
  if (lane.suspended) process_.find(lane, "a suspended queue was destroyed");
  bury(lane, *end, process_.runs(lane) && !process_.disturbed);
}

// What the entries have left, and that nothing comes behind it.
void Life::bury(Lane& lane, QueueEnd end, bool ran) {
  if (lane.poisoned) submissions_.take_faults();
  if (lane.poisoned && ran && end == QueueEnd::kDrained && !lane.fault_seen) {
    process_.find(lane, "destroyed, but its fault is not reported");
  }
  const auto words = cells_.read(lane);
  if (world_.stopped) return after_end(lane);
  const auto& journal = lane.journal;
  std::optional<std::string> wrong;
  if (lane.poisoned && lane.fault_seen && lane.options.in_order) {
    wrong = journal.in_order(words, lane.wrong_at, lane.wrong_at);
  } else if (!lane.poisoned && end == QueueEnd::kDrained && ran) {
    wrong = journal.all_done(words);
  } else if (lane.options.in_order) {
    const auto most = lane.poisoned ? lane.wrong_at : journal.size();
    wrong = journal.in_order(words, lane.known_done, most);
  } else {
    wrong = journal.some_done(words);
  }
  if (wrong) {
    process_.find(lane, fmt::format("destroyed, {}: {}",
                                    end == QueueEnd::kDrained ? "drained" : "reset", *wrong));
  }
  world_.pass(any_time(random_, 30_us));
  const auto later = cells_.read(lane);
  for (unsigned cell = 0; cell < kCells && !world_.stopped; ++cell) {
    if (later[cell] == words[cell]) continue;
    process_.find(lane, fmt::format("cell {} changes behind the queue's end ({})", cell,
                                    end == QueueEnd::kDrained ? "drained" : "reset"));
  }
  after_end(lane);
}

void Life::after_end(Lane& lane) {
  const auto late = lane.queue->submit(driver::entries::nop(), world_.in(10_us));
  if (late && !world_.stopped) process_.find(lane, "a destroyed queue takes entries");
  if (!lane.awaited.empty()) {
    const auto deadline = world_.in(10_us);
    const TimedCall timed(world_, "wait() behind the end", deadline, kSettling + kCall);
    const auto& last = lane.awaited.back().ticket;
    const auto status = lane.queue->wait(last, driver::WaitPolicy::kAdaptive, deadline);
    if (!status && status.error().code == ErrorCode::kTimeout && !world_.stopped) {
      process_.find(lane, "an outcome is open behind the queue's end: " + text(status));
    }
  }
  process_.gone.push_back(lane.queue->id());
  lane.queue.reset();
  lane.null_ring = lane.disabled = lane.suspended = false;
  submissions_.heal(lane);
}

}  // namespace npu::attack
