// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/queue_misuse.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::attack {

namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

}  // namespace

void QueueMisuse::expect(const char* what, const Status& status,
                         std::initializer_list<ErrorCode> codes) {
  if (world_.stopped) return;
  const bool right =
      !status && std::find(codes.begin(), codes.end(), status.error().code) != codes.end();
  if (right) return;
  world_.find(fmt::format("{}: {} expected, {}", what, to_string(*codes.begin()), text(status)));
}

void QueueMisuse::call() {
  const auto before = process_.context->queue_count();
  const TimedCall timed(world_, "a wrong call", {}, kCommands);
  auto* lane = process_.any_lane();
  switch (lane == nullptr ? random_.below(3) : random_.below(7)) {
    case 0:
      options();
      break;
    case 1:
      processes();
      break;
    case 2:
      ids();
      break;
    case 3:
      changes(*lane);
      break;
    case 4:
      entries(*lane);
      break;
    case 5:
      tickets(*lane);
      break;
    default:
      foreign(*lane);
      break;
  }
  if (process_.context->queue_count() != before && !process_.disturbed && !world_.stopped) {
    world_.find("a wrong call has changed the number of queues");
  }
}

void QueueMisuse::options() {
  driver::QueueOptions options;
  const auto beyond = [&](unsigned limit) {
    return random_.percent(50) ? limit + 1
                               : limit + 1 + static_cast<unsigned>(random_.below(~limit));
  };
  switch (random_.below(9)) {
    case 0:
      options.ring.memory = static_cast<driver::QueueMemory>(2 + random_.below(254));
      break;
    case 1:
      options.completion_memory = static_cast<driver::QueueMemory>(2 + random_.below(254));
      break;
    case 2:
      options.ring.log2_entries =
          random_.percent(50) ? static_cast<unsigned>(random_.below(2)) : beyond(abi::kMaxLog2Ring);
      break;
    case 3:
      options.log2_completions = random_.percent(50) ? 1 + static_cast<unsigned>(random_.below(7))
                                                     : beyond(abi::kMaxLog2Ring);
      break;
    case 4:
      options.priority = beyond(15);
      break;
    case 5:
      options.percentage = beyond(100);
      break;
    case 6:
      options.quantum = random_.of({Picoseconds(-1'000'000), Picoseconds(1), 1'000'001_us * 1000,
                                    Picoseconds::max(), Picoseconds(INT64_MIN)});
      break;
    default:
      options.core_mask = {};
      break;
  }
  expect("create_queue(wrong options)", process_.context->create_queue(options), {kInvalid});
}

void QueueMisuse::processes() {
  driver::ProcessOptions options;
  if (random_.percent(50)) {
    options.max_queues = random_.of({0U, 512U, 513U, 0x8000'0000U, ~0U});
  } else {
    options.signals = random_.of({0U, 4097U, 0x8000'0000U, ~0U});
  }
  expect("open(wrong options)", driver::ProcessContext::open(process_.card(), options), {kInvalid});
  if (process_.queues() > 0) {
    expect("close() with queues", process_.context->close(), {ErrorCode::kBusy});
  }
}

// Destroyed, never created, or beyond all.
driver::QueueId QueueMisuse::nobody() {
  std::uint32_t id = abi::kMaxQueues + static_cast<std::uint32_t>(random_.below(0xFFFF'0000));
  if (random_.percent(50)) id = static_cast<std::uint32_t>(random_.below(abi::kMaxQueues));
  if (!process_.gone.empty() && random_.percent(40)) id = random_.in(process_.gone).value;
  for (const auto& other : *process_.all) {
    if (other.get() == &process_ || !random_.percent(30)) continue;
    if (auto* lane = other->any_lane()) id = lane->queue->id().value;
  }
  return {id};
}

void QueueMisuse::ids() {
  auto& context = *process_.context;
  const auto id = nobody();
  const bool mine =
      (process_.healer && process_.healer->id() == id) ||
      std::any_of(process_.lanes.begin(), process_.lanes.end(),
                  [&](const auto& lane) { return lane->queue && lane->queue->id() == id; });
  if (mine || process_.disturbed) return;  // the disturber has queues of its own
  const auto deadline = world_.in(1_ms);
  switch (random_.below(4)) {
    case 0:
      return expect("query(no queue)", context.query(id), {ErrorCode::kNotFound});
    case 1: {
      driver::QueueChange change;
      change.percentage = 0;
      return expect("update(no queue)", context.update(id, change), {ErrorCode::kNotFound});
    }
    default: {
      const auto results = random_.percent(50) ? context.suspend({id, id}, deadline)
                                               : context.resume({id, id}, deadline);
      const std::vector wanted(2, driver::QueueResult::kInvalid);
      if (results != wanted && !world_.stopped) {
        world_.find("suspend() or resume() of no queue is not kInvalid");
      }
    }
  }
}

void QueueMisuse::changes(Lane& lane) {
  driver::QueueChange change;
  change.percentage = 0;  // none of it happens
  switch (random_.below(7)) {
    case 0:
      change.ring_change = static_cast<driver::QueueChange::Ring>(4 + random_.below(252));
      break;
    case 1:
      change.ring.memory = static_cast<driver::QueueMemory>(2 + random_.below(254));
      break;
    case 2:
      change.ring_change = driver::QueueChange::Ring::kReplace;
      change.ring.log2_entries = random_.of({0U, 1U, 17U, 64U, 0xFFFF'FFFFU});
      break;
    case 3:
      change.priority = 16 + static_cast<unsigned>(random_.below(1ULL << 31));
      break;
    case 4:
      change.percentage = 101 + static_cast<unsigned>(random_.below(1ULL << 31));
      break;
    case 5:
      change.quantum = random_.of({Picoseconds(-1), Picoseconds(1'500'000), Picoseconds::max()});
      break;
    default:
      change.core_mask = driver::CoreMask{};
      break;
  }
  expect("update(wrong change)", process_.context->update(lane.queue->id(), change), {kInvalid});
}

void QueueMisuse::entries(Lane& lane) {
  const auto deadline = random_.of({Instant(), world_.in(1_ms), Instant::never()});
  const auto most = std::size_t{1} << lane.log2_ring;
  const std::vector<abi::QueueEntry> nops(most + 1, driver::entries::nop());
  const bool none = random_.percent(50);
  // One that has stopped says so first; and of one that may have, the ring's size is not sure.
  if (lane.poisoned || world_.stopped) return;
  expect(none ? "submit(none)" : "submit(more than the ring has)",
         lane.queue->submit(nops.data(), none ? 0 : most + 1, deadline), {kInvalid});
}

void QueueMisuse::tickets(Lane& lane) {
  const auto* other = process_.any_lane();
  const auto deadline = world_.in(1_ms);
  if (other != &lane && !other->awaited.empty()) {
    const auto& ticket = other->awaited.back().ticket;
    expect("wait(another queue's ticket)",
           lane.queue->wait(ticket, driver::WaitPolicy::kPolling, deadline), {kInvalid});
    expect("is_done(another queue's ticket)", lane.queue->is_done(ticket), {kInvalid});
  }
  if (lane.awaited.empty()) return;
  auto ticket = lane.awaited.back().ticket;
  if (ticket.sequence != 0) {
    expect("wait(unknown policy)",
           lane.queue->wait(ticket, static_cast<driver::WaitPolicy>(3 + random_.below(1000)),
                            deadline),
           {kInvalid});
  }
  ticket.sequence = 0;
  expect("wait(no completion)", lane.queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline),
         {kInvalid});
}

void QueueMisuse::foreign(Lane& lane) {
  const auto& other = random_.in(*process_.all);
  if (other.get() == &process_ || !other->context) return;
  expect("destroy(another process' queue)", other->context->destroy(*lane.queue, world_.in(1_ms)),
         {kInvalid});
}

}  // namespace npu::attack
