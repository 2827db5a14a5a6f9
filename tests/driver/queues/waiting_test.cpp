// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/queues/queue_fixture.hpp"

namespace npu::driver {
namespace {

class QueueWaitTest : public QueueTest {
 protected:
  void takes(Picoseconds time) {
    cp.entry_latency = [time](const abi::QueueEntry&) { return time; };
  }
  Status wait(Queue& queue, WaitPolicy policy, Picoseconds limit = 100_ms) {
    const auto ticket = queue.submit(entries::nop(), in(1_ms));
    if (!ticket) return forward_error(ticket);
    return queue.wait(*ticket, policy, in(limit));
  }
};

TEST_F(QueueWaitTest, EveryPolicyEndsWithTheEntry) {
  const auto queue = make();
  takes(20_us);
  for (const auto policy : {WaitPolicy::kPolling, WaitPolicy::kInterrupt, WaitPolicy::kAdaptive}) {
    const auto begin = fake.scheduler.now();
    ASSERT_THAT(wait(*queue, policy), IsOk());
    EXPECT_GE(fake.scheduler.now() - begin, 20_us);
    EXPECT_LT(fake.scheduler.now() - begin, 35_us);
  }
  EXPECT_EQ(queue->counters().spun + queue->counters().slept, 3U);
}

TEST_F(QueueWaitTest, AnInterruptLetsTheWaiterSleep) {
  const auto queue = make();
  takes(200_us);
  const auto before = fake.tasks().cpu_usage().busy;
  ASSERT_THAT(wait(*queue, WaitPolicy::kInterrupt), IsOk());
  EXPECT_LT(fake.tasks().cpu_usage().busy - before, 20_us);
  EXPECT_EQ(queue->counters().slept, 1U);
}

TEST_F(QueueWaitTest, AdaptiveLearnsToSleepOverLongEntries) {
  const auto queue = make();
  takes(500_us);
  for (int i = 0; i < 8; ++i) ASSERT_THAT(wait(*queue, WaitPolicy::kAdaptive), IsOk());
  const auto before = fake.tasks().cpu_usage().busy;
  ASSERT_THAT(wait(*queue, WaitPolicy::kAdaptive), IsOk());
  EXPECT_LT(fake.tasks().cpu_usage().busy - before, 20_us);
}

TEST_F(QueueWaitTest, ALostInterruptAtMostDoublesTheWait) {
  const auto queue = make();
  takes(1500_us);
  card.behaviour.interrupts_lost = true;
  const auto begin = fake.scheduler.now();
  ASSERT_THAT(wait(*queue, WaitPolicy::kInterrupt), IsOk());
  EXPECT_LT(fake.scheduler.now() - begin, 3100_us);
  EXPECT_EQ(queue->counters().missed_interrupts, 1U);
}

TEST_F(QueueWaitTest, TimesOutAndMayBeRepeated) {
  const auto queue = make();
  takes(100_us);
  const auto ticket = queue->submit(entries::nop(), in(1_ms));
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(10_us)),
              FailsWith(ErrorCode::kTimeout, "entry 0"));
  EXPECT_LT(fake.scheduler.now() - begin, 12_us);
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(QueueWaitTest, WithoutInterruptsOnlyPollingWorks) {
  QueueOptions options;
  options.interrupt = false;
  const auto queue = make(options);
  EXPECT_THAT(wait(*queue, WaitPolicy::kInterrupt), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(wait(*queue, WaitPolicy::kAdaptive), IsOk());
  EXPECT_EQ(cp.executed()[0].entry.flags & abi::kEntryInterrupt, 0);
}

TEST_F(QueueWaitTest, CompletionsInDeviceMemoryAreReadThroughBar2) {
  QueueOptions options;
  options.completion_memory = QueueMemory::kDevice;
  const auto queue = make(options);
  ASSERT_THAT(wait(*queue, WaitPolicy::kPolling), IsOk());
  ASSERT_THAT(wait(*queue, WaitPolicy::kInterrupt), IsOk());
  EXPECT_GE(queue->counters().mmio_reads, 4U);
}

TEST_F(QueueWaitTest, SeveralTasksWaitForEntriesOfOneQueue) {
  const auto queue = make();
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(8);
  for (int t = 0; t < 8; ++t) {
    tasks.push_back(must(fake.tasks().spawn("waiter", [&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto policy = t % 2 == 0 ? WaitPolicy::kPolling : WaitPolicy::kInterrupt;
        EXPECT_THAT(wait(*queue, policy), IsOk());
      }
    })));
  }
  for (auto& task : tasks) task->join();
  EXPECT_EQ(executed(*queue), 400U);
  EXPECT_EQ(queue->counters().missed_interrupts, 0U);
}

TEST_F(QueueWaitTest, ALostCardEndsTheWait) {
  auto queue = make();
  cp.paused = true;
  const auto ticket = queue->submit(entries::nop(), in(1_ms));
  fake.scheduler.at(in(100_us), [&] { card.remove(); });
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_s)),
              FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)), FailsWith(ErrorCode::kDeviceLost));
  queue.reset();
  process.reset();
  cp.reset();
  expect_leak = true;  // nobody can tell what the card still knows
}

}  // namespace
}  // namespace npu::driver
