// SPDX-License-Identifier: Apache-2.0
// Clients that launch kernels in time slices, each a task of its own, for a while.
#pragma once

#include <memory>

#include "npu/driver/time_slices.hpp"
#include "tests/support/matchers.hpp"
#include "tests/system/queues/queue_card.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

using driver::CoreQuota;
using driver::kWholeToken;

struct TimeSlicePlayer {
  TimeSlicePlayer(platform::Platform& machine, QueueCard& card,
                  driver::TimeSliceScheduler& scheduler, const CoreQuota& quota = {50, kWholeToken},
                  std::uint64_t cycles = 20'000)
      : host(machine),
        process(card),
        queue(process.add(in_order())),
        kernel(process.launch(queue, "spin", 4, std::array{cycles})),
        slice(must(scheduler.join(*process.process, "player", quota))) {}
  ~TimeSlicePlayer() { leave(); }

  static driver::QueueOptions in_order() {
    driver::QueueOptions options;
    options.in_order = true;
    return options;
  }
  // Begins to launch, until `end`.
  void play(Instant end) {
    task = must(host.tasks().spawn("player", [this, end] {
      while (host.clock().now() < end && !quit) {
        if (paused) {
          host.clock().sleep_until(host.clock().now() + 10_us);
        } else if (slice->launch(queue, kernel, end)) {
          ++launches;
        }
      }
    }));
  }
  // As SIGSTOP and SIGCONT do: neither its tasks nor its agent do anything.
  void stop(bool stopped) {
    paused = stopped;
    slice->stop(stopped);
  }
  void leave() {
    quit = true;
    if (task) task->join();
    task.reset();
    if (!slice) return;
    slice.reset();
  }
  Picoseconds busy() const { return slice->statistics().busy; }
  bool running() const { return slice->statistics().running; }

  platform::Platform& host;
  QueueProcess process;
  driver::Queue& queue;
  abi::QueueEntry kernel;
  std::unique_ptr<driver::TimeSliceClient> slice;
  std::unique_ptr<platform::Task> task;
  std::uint64_t launches = 0;
  bool quit = false, paused = false;
};

}  // namespace npu::test
