// SPDX-License-Identifier: Apache-2.0
// Clients that launch kernels in turns, each a task of its own, for a while.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "npu/driver/turns.hpp"
#include "tests/support/matchers.hpp"
#include "tests/system/queues/queue_card.hpp"
#include "tests/system/support/machine.hpp"

namespace npu::test {

using driver::kWholeToken;
using driver::TurnShare;

struct TurnPlayer {
  TurnPlayer(platform::Platform& machine, QueueCard& card, driver::TurnScheduler& scheduler,
             const TurnShare& share = {50, kWholeToken}, std::uint64_t cycles = 20'000)
      : host(machine),
        process(card),
        queue(process.add(in_order())),
        kernel(process.launch(queue, "spin", 4, std::array{cycles})),
        turn(must(scheduler.join(*process.process, "player", share))) {}
  ~TurnPlayer() { leave(); }

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
        } else if (turn->launch(queue, kernel, end)) {
          ++launches;
        }
      }
    }));
  }
  // As SIGSTOP and SIGCONT do: neither its tasks nor its agent do anything.
  void stop(bool stopped) {
    paused = stopped;
    turn->stop(stopped);
  }
  void leave() {
    quit = true;
    if (task) task->join();
    task.reset();
    if (!turn) return;
    turn.reset();
  }
  Picoseconds busy() const { return turn->statistics().busy; }
  bool running() const { return turn->statistics().running; }

  platform::Platform& host;
  QueueProcess process;
  driver::Queue& queue;
  abi::QueueEntry kernel;
  std::unique_ptr<driver::TurnClient> turn;
  std::unique_ptr<platform::Task> task;
  std::uint64_t launches = 0;
  bool quit = false, paused = false;
};

}  // namespace npu::test
