// SPDX-License-Identifier: Apache-2.0
// A device that is shut down while others use it.
#include "tests/driver/threads/crowd_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

template <class T>
bool made_or_ended(const Result<T>& made) {
  if (made) return true;
  const auto code = made.error().code;
  return code == ErrorCode::kAborted || code == ErrorCode::kInvalidArgument;
}

// The next probes of who sleeps come long after the shutdown: only the interrupt can wake them.
class ShutdownTest : public CrowdTest {
 protected:
  static constexpr Picoseconds kAsleep = 20_ms;

  void expect_prompt_shutdown() {
    pass(kAsleep);
    const auto begin = fake.scheduler.now();
    static_cast<void>(device->shutdown());
    join();
    EXPECT_LT(fake.scheduler.now() - begin, 2_ms) << "they sleep on";
  }
  void expect_no_vector_open() {
    for (unsigned i = 0; i < card.config().vectors; ++i) EXPECT_FALSE(card.vector(i).open) << i;
  }
  // Tasks make one each; the device is shut down so much later.
  template <class Make>
  void expect_made_or_ended(Picoseconds later, unsigned tasks, Make make) {
    begin(tasks, [&](unsigned) {
      const auto made = make();
      EXPECT_TRUE(made_or_ended(made)) << later.ns() << made.error().context;
    });
    pass(later);
    static_cast<void>(device->shutdown());
    join();
    expect_no_vector_open();
  }
};

// The card hangs, so the drain of the shutdown ends with its time.
TEST_F(ShutdownTest, WakesWhoSleepsOnAStreamsInterrupt) {
  card.behaviour.completion_paused = true;
  begin(kCrowd, [&](unsigned) {
    const auto own = must(device->create_stream());
    EXPECT_THAT(copy(own, WaitPolicy::kInterrupt), FailsWith(ErrorCode::kAborted));
  });
  expect_prompt_shutdown();
}

TEST_F(ShutdownTest, WakesWhoSleepsOnAQueuesInterrupt) {
  card.queues().paused = true;
  const auto process = open_process();
  begin(kCrowd, [&](unsigned) {
    const auto queue = must(process->create_queue());
    const auto ticket = must(queue->submit(entries::nop(), in(1_ms)));
    const auto done = queue->wait(ticket, WaitPolicy::kInterrupt, in(100_ms));
    EXPECT_THAT(done, FailsWith(ErrorCode::kAborted));
  });
  expect_prompt_shutdown();
}

TEST_F(ShutdownTest, WakesWhoWaitsForASignal) {
  const auto process = open_process();
  const auto signal = must(process->signals().create());
  begin(kCrowd, [&](unsigned) {
    const auto met = process->signals().wait(signal, WaitPolicy::kInterrupt, in(100_ms));
    EXPECT_THAT(met, FailsWith(ErrorCode::kAborted));
  });
  expect_prompt_shutdown();
}

// Without an interrupt they hear of it from the card, which they ask now and then.
TEST_F(ShutdownTest, EndsThePollingForCommandsEntriesAndSignals) {
  card.behaviour.completion_paused = true;
  card.queues().paused = true;
  const auto process = open_process();
  const auto signal = must(process->signals().create());
  begin(kCrowd, [&](unsigned i) {
    Status ended;
    if (i % 3 == 0) {
      ended = copy(stream, WaitPolicy::kPolling);
    } else if (i % 3 == 1) {
      const auto met = process->signals().wait(signal, WaitPolicy::kPolling, in(100_ms));
      if (!met) ended = forward_error(met);
    } else {
      const auto queue = process->create_queue();
      const auto ticket = (*queue)->submit(entries::nop(), in(1_ms));
      ended = (*queue)->wait(*ticket, WaitPolicy::kPolling, in(100_ms));
    }
    EXPECT_THAT(ended, FailsWith(ErrorCode::kAborted)) << i;
  });
  pass(600_us);
  static_cast<void>(device->shutdown());
  const auto closed = fake.scheduler.now();
  join();
  EXPECT_LT(fake.scheduler.now() - closed, 2_ms);
}

// At whatever moment: a queue opens a vector last, which may come behind what closes them all.
TEST_F(ShutdownTest, EndsTheMakingOfQueues) {
  QueueOptions options;
  options.ring = {QueueMemory::kDevice, 6};  // clearing it takes a while
  for (auto when = 0_us; when <= 40_us; when += 500_ns) {
    open({});
    const auto process = open_process();
    expect_made_or_ended(when, 1, [&] { return process->create_queue(options); });
  }
}

TEST_F(ShutdownTest, EndsTheMakingOfStreams) {
  for (auto when = 0_us; when <= 10_us; when += 200_ns) {
    open({});
    expect_made_or_ended(when, kCrowd, [&] { return device->create_stream(); });
  }
}

TEST_F(ShutdownTest, EndsTheOpeningOfProcesses) {
  for (auto when = 0_us; when <= 60_us; when += 1_us) {
    open({});
    expect_made_or_ended(when, kCrowd, [&] { return ProcessContext::open(*device, {}); });
  }
}

TEST_F(ShutdownTest, OfOneTaskIsEnoughWhereAllShutDown) {
  crowd([&](unsigned) { EXPECT_THAT(device->shutdown(), IsOk()); });
}

}  // namespace
}  // namespace npu::driver
