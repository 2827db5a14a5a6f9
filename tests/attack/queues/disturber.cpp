// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/disturber.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::attack {

using driver::QueueResult;

void Disturber::pause() {
  world_.pass(any_time(random_, 60_us));
}

std::vector<driver::QueueId> Disturber::some_ids() {
  std::vector<driver::QueueId> ids;
  for (const auto& lane : process_.lanes) {
    if (lane->queue && random_.percent(30)) ids.push_back(lane->queue->id());
  }
  return ids;
}

void Disturber::release(const std::vector<driver::QueueId>& ids) {
  const auto deadline = world_.in(1_s);
  const TimedCall timed(world_, "resume() beside others", deadline, kCall);
  const auto results = process_.context->resume(ids, deadline);
  if (std::count(results.begin(), results.end(), QueueResult::kError) > 0 && !world_.stopped) {
    world_.find("resume() beside others: error");
  }
}

void Disturber::hold() {
  const auto ids = some_ids();
  const bool sure = random_.percent(70);
  const auto deadline = sure ? world_.in(1_s) : world_.in(any_time(random_, 50_us));
  std::vector<QueueResult> results;
  {
    const TimedCall timed(world_, "suspend() beside others", deadline, kCall);
    results = process_.context->suspend(ids, deadline);
  }
  if (results.size() != ids.size()) world_.find("suspend(): as many results as queues expected");
  if (sure && std::count(results.begin(), results.end(), QueueResult::kError) > 0 &&
      !world_.stopped) {
    world_.find("suspend() beside others: error");
  }
  pause();
  release(ids);
}

void Disturber::disable() {
  driver::QueueChange off, on;
  off.percentage = 0;
  on.percentage = 1 + static_cast<unsigned>(random_.below(100));
  if (random_.percent(40)) off.ring_change = driver::QueueChange::Ring::kNullRing;
  if (random_.percent(60)) off.priority = static_cast<unsigned>(random_.below(16));
  on.ring_change = driver::QueueChange::Ring::kRestore;
  for (const auto id : some_ids()) {
    for (const auto* change : {&off, &on}) {
      Status status;
      {
        const TimedCall timed(world_, "update() beside others", {}, kCommands);
        status = process_.context->update(id, *change);
      }
      const auto code = status ? ErrorCode::kBusy : status.error().code;
      if (code != ErrorCode::kBusy && code != ErrorCode::kNotFound &&
          code != ErrorCode::kDeviceFault && !world_.stopped) {
        world_.find("update() beside others: " + text(status));
      }
      if (change == &off) pause();
    }
  }
}

void Disturber::evict() {
  const auto times = 1 + random_.below(3);
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto deadline = world_.in(1_s);
    const TimedCall timed(world_, "evict() beside others", deadline, kCall);
    const auto status = process_.context->evict(deadline);
    if (!status && !world_.stopped) world_.find("evict() beside others: " + text(status));
  }
  pause();
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto deadline = world_.in(1_s);
    const TimedCall timed(world_, "restore() beside others", deadline, kCall);
    const auto status = process_.context->restore(deadline);
    if (!status && !world_.stopped) world_.find("restore() beside others: " + text(status));
  }
}

void Disturber::ask() {
  const TimedCall timed(world_, "snapshot() beside others", {}, kCommands);
  const auto snapshot = process_.context->snapshot(random_.below(30));
  if (!snapshot) {
    if (!world_.stopped) world_.find("snapshot() beside others: " + text(snapshot));
    return;
  }
  for (std::size_t i = 1; i < snapshot->size(); ++i) {
    if ((*snapshot)[i].id.value <= (*snapshot)[i - 1].id.value) {
      world_.find("snapshot(): not lowest id first");
    }
  }
}

void Disturber::come_and_go() {
  std::vector<std::unique_ptr<driver::Queue>> queues;
  for (auto left = 1 + random_.below(20); left > 0; --left) {
    auto made = process_.context->create_queue();
    if (!made) {
      if (!world_.stopped && made.error().code != ErrorCode::kOutOfResources) {
        world_.find("create_queue() beside others: " + text(made));
      }
      break;
    }
    static_cast<void>((*made)->submit(driver::entries::nop(), world_.in(10_us)));
    queues.push_back(std::move(*made));
  }
  while (!queues.empty()) {
    if (random_.percent(70)) {
      const auto deadline = world_.in(1_s);
      const auto end = process_.context->destroy(*queues.back(), deadline);
      if ((!end || *end != driver::QueueEnd::kDrained) && !world_.stopped) {
        world_.find("destroy() beside others: " + (end ? "reset" : text(end)));
      }
    }
    queues.pop_back();
  }
}

// Moves what is not pinned; everything is evicted meanwhile.
void Disturber::compact() {
  world_.dma->lock();  // its copies go through the card's own ring
  const auto report = process_.card().compact((1 + random_.below(2000)) * 2_MiB);
  world_.dma->unlock();
  if (!report && report.error().code != ErrorCode::kOutOfMemory && !world_.stopped) {
    world_.find("compact(): " + text(report));
  }
}

void Disturber::run(const bool& over) {
  // Calls to a card that does not answer take long, and keep the owner from its own.
  for (int late = 0; !over && late < 10 && !world_.give_up();) {
    if (world_.stopped) ++late;
    pause();
    const auto drawn = random_.below(100);
    if (drawn < 30) {
      hold();
    } else if (drawn < 50) {
      disable();
    } else if (drawn < 70) {
      evict();
    } else if (drawn < 85) {
      ask();
    } else if (drawn < 95) {
      come_and_go();
    } else {
      compact();
    }
  }
}

}  // namespace npu::attack
