// SPDX-License-Identifier: Apache-2.0
// The management ring: full, stuck, restarted.
#include "npu/abi/telemetry.hpp"
#include "npu/driver/memory_scrub.hpp"
#include "tests/driver/queues/queue_fixture.hpp"

namespace npu::driver {
namespace {

using abi::ManagementOpcode;

constexpr std::uint32_t kHasEcc = 0x10;  // of TELEMETRY_CAPABILITY

TEST_F(QueueTest, ACardWithoutEccIsNotScrubbed) {
  EXPECT_THAT(scrub_memory(*device, in(10_ms)), FailsWith(ErrorCode::kUnsupported));
  EXPECT_EQ(commands(ManagementOpcode::kScrub), 0U);
}

// Pages of 2 MiB that are in use, each by a command.
TEST_F(QueueTest, ScrubReadsEveryPageInUse) {
  card.set_register(abi::TelemetryCapability::kOffset, 4, kHasEcc);
  const auto commands_of_scrub = [this] {
    const auto before = commands(ManagementOpcode::kScrub);
    const auto done = scrub_memory(*device, in(10_ms));
    EXPECT_THAT(done, IsOk());
    const auto count = commands(ManagementOpcode::kScrub) - before;
    EXPECT_EQ(done ? done->bytes : 0, count * 2_MiB);
    return count;
  };
  const auto at_first = commands_of_scrub();
  EXPECT_EQ(at_first * 2_MiB, device->memory_statistics().used());
  const auto memory = must(device->allocate(64_MiB));
  EXPECT_EQ(commands_of_scrub(), at_first + 32);
  EXPECT_THAT(device->free(memory.address), IsOk());
  EXPECT_EQ(commands_of_scrub(), at_first);
}

TEST_F(QueueTest, AScrubThatTheCardRefusesOrDoesNotEndIsAnError) {
  ASSERT_THAT(device->allocate(2_MiB), IsOk());
  card.set_register(abi::TelemetryCapability::kOffset, 4, kHasEcc);
  cp.refusals[static_cast<std::uint8_t>(ManagementOpcode::kScrub)] =
      abi::ManagementStatus::kInvalidCommand;
  EXPECT_THAT(scrub_memory(*device, in(10_ms)),
              FailsWith(ErrorCode::kBadDevice, "refused to scrub: invalid command"));
  cp.refusals.clear();
  cp.stuck = true;
  EXPECT_THAT(scrub_memory(*device, in(100_us)), FailsWith(ErrorCode::kTimeout));
  cp.stuck = false;
  EXPECT_THAT(scrub_memory(*device, in(10_ms)), IsOk());
}

TEST_F(QueueTest, ACommandThatIsNotAnsweredIsATimeoutWithItsName) {
  const auto queue = make();
  cp.stuck = true;
  EXPECT_THAT(process->query(queue->id()), FailsWith(ErrorCode::kTimeout, "query queue"));
  EXPECT_EQ(statistics().timeouts, 1U);
  cp.stuck = false;
  // The next doorbell also executes the forgotten one.
  EXPECT_THAT(process->query(queue->id()), IsOk());
}

// The card has executed it, and what it wrote never came: it is not waited for any longer.
TEST_F(QueueTest, AnAnswerThatIsLostIsFoundOutAtTheFirstLook) {
  const auto queue = make();
  cp.loses_answers = true;
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(process->query(queue->id()), FailsWith(ErrorCode::kTimeout, "the answer was lost"));
  EXPECT_LT(fake.scheduler.now() - begin, 1_ms + 50_us);
  cp.loses_answers = false;
  EXPECT_THAT(process->query(queue->id()), IsOk());
}

// Every one that is given up keeps its place: 64 of them, and the ring is full.
TEST_F(QueueTest, AFullManagementRingIsAnErrorAndHarmsNoQueue) {
  ProcessOptions options;
  options.command_timeout = 10_us;
  const auto other = open_process(options);
  const auto queue = make(*other);
  cp.stuck = true;
  for (int i = 0; i < 64; ++i) {
    ASSERT_THAT(other->query(queue->id()), FailsWith(ErrorCode::kTimeout)) << i;
  }
  EXPECT_THAT(other->query(queue->id()), FailsWith(ErrorCode::kQueueFull, "management ring"));
  EXPECT_THAT(other->create_queue(), FailsWith(ErrorCode::kQueueFull));
  EXPECT_THAT(run(*queue), IsOk()) << "user space does not need it";
  cp.stuck = false;
  EXPECT_THAT(other->query(queue->id()), FailsWith(ErrorCode::kQueueFull));
  cp.register_written(0x320, 65);  // the card goes on
  pass(1_ms);
  EXPECT_THAT(other->query(queue->id()), IsOk());
}

// A SUSPEND that never ends holds up the ring; destroying its queue gets over it.
TEST_F(QueueTest, DestroyingGetsAStuckRingGoing) {
  ProcessOptions options;
  options.command_timeout = 1_ms;
  const auto other = open_process(options);
  const auto culprit = make(*other), neighbour = make();
  cp.entry_latency = [](const abi::QueueEntry& entry) {
    return entry.opcode == 0x10 ? 10_s : 1_us;
  };
  const auto launch = entries::launch_image(abi::QueueOpcode::kLaunchAiCore, {64}, 1, {}, 0);
  ASSERT_TRUE(submit(*culprit, launch));
  pass(10_us);
  const auto results = other->suspend({culprit->id()}, in(1_ms));
  EXPECT_EQ(results[0], QueueResult::kError);
  const auto end = other->destroy(*culprit, in(2_ms));
  EXPECT_TRUE(!end || *end == QueueEnd::kReset);
  EXPECT_GE(statistics().restarts, 1U);
  EXPECT_EQ(cp.queues(), 1U);
  EXPECT_THAT(process->query(neighbour->id()), IsOk());
  EXPECT_THAT(run(*neighbour), IsOk());
}

// The card never lets go: ids are lost, memory is not.
TEST_F(QueueTest, AQueueThatCannotBeRemovedKeepsItsIdFromOthers) {
  ProcessOptions options;
  options.command_timeout = 100_us;
  auto other = open_process(options);
  auto queue = make(*other);
  const auto id = queue->id();
  cp.stuck_opcodes.insert(static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue));
  EXPECT_THAT(other->destroy(*queue, in(1_ms)), FailsWith(ErrorCode::kTimeout, "remove queue"));
  queue.reset();
  cp.stuck_opcodes.clear();
  other.reset();
  const auto next = make();
  EXPECT_NE(next->id(), id);
  EXPECT_THAT(run(*next), IsOk());
  EXPECT_EQ(statistics().queue_ids, 2U);
  expect_leak = true;
  cp.reset();
}

// The card says nothing: the deadline holds, and a later call finishes.
TEST_F(QueueTest, ADestructionHoldsItsDeadlineAndIsFinishedLater) {
  const auto queue = make();
  ASSERT_TRUE(submit(*queue));
  cp.stuck = true;
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(process->destroy(*queue, in(5_ms)),
              FailsWith(ErrorCode::kTimeout, "queue 0 takes nothing more"));
  EXPECT_LE(fake.scheduler.now() - begin, 6_ms + 100_us);
  EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)), FailsWith(ErrorCode::kInvalidArgument));
  cp.stuck = false;
  EXPECT_THAT(process->destroy(*queue, in(5_ms)), IsOk());
  EXPECT_EQ(cp.queues(), 0U);
  EXPECT_THAT(run(*make()), IsOk());
}

// What a call has left open when the card did not answer, the next one settles.
TEST_F(QueueTest, CallsHoldTheirDeadlinesAndTheNextOnesSettleWhatWasLeft) {
  const auto queue = make();
  const std::vector<QueueId> ids = {queue->id()};
  const auto limit = [&] { return fake.scheduler.now() + 200_us; };
  for (int round = 0; round < 4; ++round) {
    cp.stuck = true;
    auto end = limit();
    EXPECT_EQ(process->suspend(ids, in(100_us))[0], QueueResult::kError);
    EXPECT_LE(fake.scheduler.now(), end);
    end = limit();
    EXPECT_THAT(process->evict(in(100_us)), FailsWith(ErrorCode::kTimeout));
    EXPECT_LE(fake.scheduler.now(), end);
    end = limit();
    EXPECT_THAT(process->restore(in(100_us)), FailsWith(ErrorCode::kTimeout));
    EXPECT_LE(fake.scheduler.now(), end);
    cp.stuck = false;
    EXPECT_THAT(process->restore(in(1_ms)), IsOk());
    EXPECT_EQ(process->evictions(), 0U);
    EXPECT_THAT(run(*queue), IsOk());
    QueueChange what;
    what.priority = static_cast<unsigned>(round);
    EXPECT_THAT(change(*queue, what), IsOk());
  }
}

TEST_F(QueueTest, AnotherTasksCommandDoesNotHoldUpACallBeyondItsDeadline) {
  const auto queue = make(), other = make();
  cp.stuck = true;
  const auto asking =
      must(fake.tasks().spawn("asking", [&] { (void)process->query(queue->id()); }));
  pass(10_us);
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(process->destroy(*other, in(5_ms)), FailsWith(ErrorCode::kTimeout, "other calls"));
  EXPECT_LE(fake.scheduler.now() - begin, 6_ms + 100_us);
  cp.stuck = false;
  asking->join();
  EXPECT_THAT(process->destroy(*other, in(5_ms)), IsOk());
}

// Not even a reset ends what runs.
TEST_F(QueueTest, RemovingAQueueThatNeverDrainsEnds) {
  ProcessOptions options;
  options.command_timeout = 1_ms;
  const auto other = open_process(options);
  const auto queue = make(*other);
  cp.refusals[static_cast<std::uint8_t>(ManagementOpcode::kRemoveQueue)] =
      abi::ManagementStatus::kNotDrained;
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(other->destroy(*queue, in(1_ms)), FailsWith(ErrorCode::kTimeout, "remove queue"));
  EXPECT_LT(fake.scheduler.now() - begin, 4_ms);
  EXPECT_THAT(run(*make()), IsOk());
  expect_leak = true;
  cp.reset();
}

TEST_F(QueueTest, TasksManageTheirQueuesAtTheSameTime) {
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(8);
  for (int t = 0; t < 8; ++t) {
    tasks.push_back(must(fake.tasks().spawn("manager", [&, t] {
      const auto own = t % 2 == 0 ? open_process() : nullptr;
      auto& mine = own ? *own : *process;
      for (int i = 0; i < 20; ++i) {
        const auto queue = make(mine, small());
        EXPECT_THAT(run(*queue), IsOk());
        QueueChange what;
        what.priority = static_cast<unsigned>(i % 16);
        EXPECT_THAT(mine.update(queue->id(), what), IsOk());
        EXPECT_EQ(mine.suspend({queue->id()}, in(1_s))[0], QueueResult::kDone);
        EXPECT_EQ(mine.resume({queue->id()}, in(1_s))[0], QueueResult::kDone);
        EXPECT_THAT(run(*queue), IsOk());
      }
    })));
  }
  for (auto& task : tasks) task->join();
  EXPECT_EQ(statistics().queues, 0U);
}

TEST_F(QueueTest, ManyCommandsGoThroughASmallRing) {
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<QueueId> ids;
  for (int i = 0; i < 200; ++i) {
    queues.push_back(make(small()));
    ids.push_back(queues.back()->id());
  }
  for (const auto result : process->suspend(ids, in(100_ms))) {
    EXPECT_EQ(result, QueueResult::kDone);
  }
  EXPECT_EQ(commands(ManagementOpcode::kSuspend), 200U);
  for (const auto result : process->resume(ids, in(100_ms))) EXPECT_EQ(result, QueueResult::kDone);
  for (const auto& queue : queues) EXPECT_THAT(run(*queue), IsOk());
}

TEST_F(QueueTest, ARefusedSuspendIsReportedForItsQueueOnly) {
  const auto first = make(), second = make();
  cp.refusals[static_cast<std::uint8_t>(ManagementOpcode::kSuspend)] =
      abi::ManagementStatus::kInvalidQueue;
  const auto results = process->suspend({first->id()}, in(1_ms));
  EXPECT_EQ(results[0], QueueResult::kError);
  cp.refusals.clear();
  EXPECT_FALSE(process->query(first->id())->suspended);
  EXPECT_EQ(process->suspend({first->id(), second->id()}, in(1_ms)),
            (std::vector<QueueResult>(2, QueueResult::kDone)));
  process->resume({first->id(), second->id()}, in(1_ms));
  EXPECT_THAT(run(*first), IsOk());
}

}  // namespace
}  // namespace npu::driver
