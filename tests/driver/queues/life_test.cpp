// SPDX-License-Identifier: Apache-2.0
// The rules of queues.md C1.
#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using abi::ManagementOpcode;
using Ring = QueueChange::Ring;

QueueChange ring(Ring what) {
  QueueChange change;
  change.ring_change = what;
  return change;
}
QueueChange percentage(unsigned percent) {
  QueueChange change;
  change.percentage = percent;
  return change;
}

TEST_F(QueueTest, TheFirstQueueMapsTheProcessAndTheLastUnmapsIt) {
  EXPECT_EQ(cp.processes(), 0U);
  auto first = make(), second = make();
  EXPECT_EQ(commands(ManagementOpcode::kMapProcess), 1U);
  EXPECT_EQ(cp.processes(), 1U);
  first.reset();
  EXPECT_EQ(cp.processes(), 1U);
  second.reset();
  EXPECT_EQ(cp.processes(), 0U);
  EXPECT_EQ(commands(ManagementOpcode::kUnmapProcess), 1U);
  EXPECT_THAT(run(*make()), IsOk()) << "and it can be mapped again";
}

TEST_F(QueueTest, ACardWithoutCommandProcessorIsUnsupported) {
  test::FakeCardConfig config;
  config.bdf = {2, 0, 0};
  config.index = 1;
  config.queue_slots = 0;
  fake.add_card(config);
  const auto other = must(Device::open(fake, config.bdf));
  EXPECT_THAT(ProcessContext::open(*other), FailsWith(ErrorCode::kUnsupported));
}

TEST_F(QueueTest, OptionsOutOfRangeAreRefusedAndLeaveNothing) {
  const auto refused = [&](auto set) {
    QueueOptions options;
    set(options);
    EXPECT_THAT(process->create_queue(options), FailsWith(ErrorCode::kInvalidArgument));
  };
  refused([](QueueOptions& o) { o.ring.log2_entries = 1; });
  refused([](QueueOptions& o) { o.ring.log2_entries = 17; });
  refused([](QueueOptions& o) { o.log2_completions = 7; });
  refused([](QueueOptions& o) { o.priority = 16; });
  refused([](QueueOptions& o) { o.percentage = 101; });
  refused([](QueueOptions& o) { o.core_mask = {}; });
  refused([](QueueOptions& o) { o.quantum = Picoseconds(-1); });
  EXPECT_EQ(cp.commands().size(), 0U);
  EXPECT_EQ(statistics().queue_ids, 0U);
}

// kfdtest: DisableCpQueueByUpdateWithNullAddress, ...WithZeroPercentage.
TEST_F(QueueTest, ADisabledQueueRunsItsPacketsOnlyAfterItIsEnabled) {
  const auto queue = make();
  for (const bool by_ring : {true, false}) {
    cp.forget_executed();
    ASSERT_THAT(change(*queue, by_ring ? ring(Ring::kNullRing) : percentage(0)), IsOk());
    const auto ticket = must(queue->submit(entries::nop(), in(1_ms)));
    pass(2_s);
    EXPECT_EQ(executed(*queue), 0U);
    EXPECT_FALSE(process->query(queue->id())->active);
    ASSERT_THAT(change(*queue, by_ring ? ring(Ring::kRestore) : percentage(100)), IsOk());
    EXPECT_THAT(queue->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
  }
}

TEST_F(QueueTest, AQueueMayBeBornDisabled) {
  QueueOptions options;
  options.percentage = 0;
  const auto queue = make(options);
  const auto ticket = queue->submit(entries::nop(), in(1_ms));
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 0U);
  ASSERT_THAT(change(*queue, percentage(50)), IsOk());
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(QueueTest, BothReasonsMustGoBeforeADisabledQueueRuns) {
  const auto queue = make();
  ASSERT_THAT(change(*queue, ring(Ring::kNullRing)), IsOk());
  ASSERT_THAT(change(*queue, percentage(0)), IsOk());
  ASSERT_TRUE(submit(*queue));
  ASSERT_THAT(change(*queue, ring(Ring::kRestore)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 0U);
  ASSERT_THAT(change(*queue, percentage(1)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 1U);
}

TEST_F(QueueTest, AnUpdateReachesTheDescriptorWhileTheQueueIsHeld) {
  const auto queue = make();
  QueueChange what;
  what.priority = 11;
  what.quantum = 250_us;
  what.core_mask = first_cores(5);
  ASSERT_THAT(change(*queue, what), IsOk());
  const auto status = process->query(queue->id());
  EXPECT_EQ(status->priority, 11U);
  EXPECT_EQ(status->core_mask[0], 0x1FU);
  EXPECT_TRUE(status->active);
  EXPECT_THAT(run(*queue), IsOk());
  what.priority = 16;
  EXPECT_THAT(change(*queue, what), FailsWith(ErrorCode::kInvalidArgument, "priority 16"));
  EXPECT_THAT(process->update(QueueId{77}, {}), FailsWith(ErrorCode::kNotFound));
}

// Those that wait in the old ring go on in the new one, in order.
TEST_F(QueueTest, AReplacedRingTakesWaitingEntriesAlong) {
  auto options = small(3);
  options.log2_completions = 6;
  const auto queue = make(options);
  for (int i = 0; i < 5; ++i) ASSERT_THAT(run(*queue), IsOk());
  cp.paused = true;
  for (std::uint32_t i = 0; i < 7; ++i) {
    ASSERT_TRUE(submit(*queue, entries::record_event(SignalId{0}, 100 + i)));
  }
  auto what = ring(Ring::kReplace);
  what.ring = {QueueMemory::kDevice, 6};
  ASSERT_THAT(change(*queue, what), IsOk());
  for (std::uint32_t i = 7; i < 60; ++i) {
    ASSERT_TRUE(submit(*queue, entries::record_event(SignalId{0}, 100 + i)));
  }
  cp.resume();
  pass(1_ms);
  ASSERT_EQ(executed(*queue), 65U);
  for (std::uint32_t i = 0; i < 60; ++i) {
    EXPECT_EQ(cp.executed()[5 + i].entry.get<abi::SignalPayload>().value, 100 + i);
  }
  EXPECT_EQ(process->query(queue->id())->ring.log2_entries, 6U);
}

// The card learns of a larger ring when the queue runs again; until then it would be a fault to
// have more entries in it than the old one held.
TEST_F(QueueTest, AGrownRingIsFilledOnlyWhenTheCardKnowsIt) {
  auto options = small(2);
  options.log2_completions = 6;
  const auto queue = make(options);
  ASSERT_THAT(change(*queue, percentage(0)), IsOk());
  auto grow = ring(Ring::kReplace);
  grow.ring.log2_entries = 6;
  ASSERT_THAT(change(*queue, grow), IsOk());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit(*queue));
  EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)), FailsWith(ErrorCode::kQueueFull));
  const auto enabler = fake.tasks().spawn("enabler", [&] {
    pass(100_us);
    cp.paused = true;
    EXPECT_THAT(change(*queue, percentage(100)), IsOk());
  });
  for (int i = 4; i < 64; ++i) ASSERT_TRUE(submit(*queue)) << i;
  (*enabler)->join();
  EXPECT_FALSE(queue->faulted());
  cp.resume();
  EXPECT_THAT(run(*queue), IsOk());
  EXPECT_EQ(executed(*queue), 65U);
}

TEST_F(QueueTest, ARingTooSmallForWhatWaitsChangesNothing) {
  const auto queue = make(small(4));
  cp.paused = true;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(submit(*queue));
  auto what = ring(Ring::kReplace);
  what.ring.log2_entries = 3;
  EXPECT_THAT(change(*queue, what), FailsWith(ErrorCode::kInvalidArgument, "10 entries"));
  what.ring.log2_entries = 5;
  EXPECT_THAT(change(*queue, what), FailsWith(ErrorCode::kInvalidArgument, "completions"));
  cp.resume();
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 10U);
}

TEST_F(QueueTest, DestroyingWaitsForWhatWasSubmitted) {
  const auto queue = make();
  QueueTicket last;
  for (int i = 0; i < 100; ++i) last = *queue->submit(entries::nop(), in(1_ms));
  const auto end = must(process->destroy(*queue, in(10_ms)));
  EXPECT_EQ(end, QueueEnd::kDrained);
  EXPECT_EQ(executed(*queue), 100U);
  EXPECT_THAT(queue->is_done(last), IsOk());
  EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)),
              FailsWith(ErrorCode::kInvalidArgument, "destroyed"));
  EXPECT_THAT(process->destroy(*queue, in(1_ms)), FailsWith(ErrorCode::kNotFound));
}

// A wait that nobody meets.
TEST_F(QueueTest, AQueueThatDoesNotDrainIsReset) {
  const auto queue = make();
  const auto signal = process->signals().create();
  const auto ticket = queue->submit(entries::wait_event(*signal, 1000), in(1_ms));
  pass(10_us);
  const auto begin = fake.scheduler.now();
  const auto end = must(process->destroy(*queue, in(3_ms)));
  EXPECT_EQ(end, QueueEnd::kReset);
  EXPECT_LT(fake.scheduler.now() - begin, 4_ms);
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), FailsWith(ErrorCode::kAborted));
  EXPECT_EQ(statistics().resets, 1U);
}

TEST_F(QueueTest, SuspendAndResumeAnswerPerId) {
  const auto first = make(), second = make();
  const auto other = open_process();
  const auto foreign = make(*other);
  const auto results =
      process->suspend({first->id(), QueueId{99}, foreign->id(), second->id()}, in(1_ms));
  EXPECT_EQ(results, (std::vector<QueueResult>{QueueResult::kDone, QueueResult::kInvalid,
                                               QueueResult::kInvalid, QueueResult::kDone}));
  ASSERT_TRUE(submit(*first) && submit(*second) && submit(*foreign));
  pass(1_ms);
  EXPECT_EQ(executed(*first) + executed(*second), 0U);
  EXPECT_EQ(executed(*foreign), 1U);
  EXPECT_EQ(process->query(first->id())->state, abi::QueueState::kSuspended);
  process->resume({second->id()}, in(1_ms));
  pass(1_ms);
  EXPECT_EQ(executed(*first), 0U);
  EXPECT_EQ(executed(*second), 1U);
  process->resume({first->id()}, in(1_ms));
  EXPECT_THAT(run(*first), IsOk());
}

TEST_F(QueueTest, ASuspendedQueueIsDestroyedOnlyWhenItIsResumed) {
  const auto queue = make();
  process->suspend({queue->id()}, in(1_ms));
  EXPECT_THAT(process->destroy(*queue, in(1_ms)), FailsWith(ErrorCode::kBusy, "suspended"));
  auto task = fake.tasks().spawn("debugger", [&] {
    pass(2_ms);
    process->resume({queue->id()}, in(1_ms));
  });
  EXPECT_THAT(process->destroy(*queue, in(10_ms)), IsOk());
  (*task)->join();
}

TEST_F(QueueTest, EvictionsNest) {
  const auto queue = make();
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  ASSERT_TRUE(submit(*queue));
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 0U);
  EXPECT_EQ(process->query(queue->id())->evictions, 1U);
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 1U);
  EXPECT_GE(process->evicted_time(), 1_ms);
  EXPECT_THAT(process->restore(in(1_ms)), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(QueueTest, AQueueCreatedWhileEvictedIsBornEvicted) {
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  const auto queue = make();
  ASSERT_TRUE(submit(*queue));
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 0U);
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 1U);
}

// What else holds a queue holds it on.
TEST_F(QueueTest, RestoringEnablesOnlyWhatNothingElseHolds) {
  const auto running = make(), disabled = make(), suspended = make();
  ASSERT_THAT(change(*disabled, percentage(0)), IsOk());
  process->suspend({suspended->id()}, in(1_ms));
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  ASSERT_TRUE(submit(*running) && submit(*disabled) && submit(*suspended));
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*running), 1U);
  EXPECT_EQ(executed(*disabled) + executed(*suspended), 0U);
  process->resume({suspended->id()}, in(1_ms));
}

TEST_F(QueueTest, ResumingAnEvictedQueueDoesNotRunIt) {
  const auto queue = make();
  process->suspend({queue->id()}, in(1_ms));
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  process->resume({queue->id()}, in(1_ms));
  ASSERT_TRUE(submit(*queue));
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 0U);
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
  pass(1_ms);
  EXPECT_EQ(executed(*queue), 1U);
}

TEST_F(QueueTest, ASnapshotShowsEveryQueueOnce) {
  const auto first = make(), second = make(), third = make();
  ASSERT_THAT(run(*second), IsOk());
  const auto all = must(process->snapshot());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].id, second->id());
  EXPECT_EQ(all[1].completed, 1U);
  EXPECT_EQ(all[2].completed, 0U);
  EXPECT_EQ(process->snapshot(2)->size(), 2U);
  EXPECT_EQ(process->queue_count(), 3U);
}

TEST_F(QueueTest, AClosedProcessAnswersNothing) {
  auto other = open_process();
  auto queue = make(*other);
  EXPECT_THAT(other->close(), FailsWith(ErrorCode::kBusy, "1 queues"));
  queue.reset();
  EXPECT_THAT(other->close(), IsOk());
  EXPECT_THAT(other->create_queue(), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(other->close(), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(other->query(QueueId{0}), FailsWith(ErrorCode::kInvalidArgument));
}

// Nothing of it runs on, and the next owner of the card finds it empty.
TEST_F(QueueTest, ShuttingTheDeviceDownTakesItsQueuesOffTheCard) {
  auto queue = make();
  const auto signal = process->signals().create();
  const auto ticket = queue->submit(entries::wait_event(*signal, 9), in(1_ms));
  pass(10_us);
  ASSERT_THAT(device->shutdown(), IsOk());
  EXPECT_EQ(cp.queues() + cp.processes(), 0U);
  EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(1_ms)), FailsWith(ErrorCode::kAborted));
  EXPECT_THAT(process->create_queue(), FailsWith(ErrorCode::kInvalidArgument, "shut down"));
  queue.reset();
  process.reset();
  device.reset();
  device = std::move(*Device::open(fake, card.config().bdf));
  process = open_process();
  EXPECT_THAT(run(*make()), IsOk());
}

TEST_F(QueueTest, AQuantumIsInWholeMicroseconds) {
  QueueOptions options;
  options.quantum = 1500_ns;
  EXPECT_THAT(process->create_queue(options), FailsWith(ErrorCode::kInvalidArgument, "quantum"));
  const auto queue = make();
  QueueChange what;
  what.quantum = 500_ns;  // would be the card's default
  EXPECT_THAT(change(*queue, what), FailsWith(ErrorCode::kInvalidArgument, "quantum"));
}

}  // namespace
}  // namespace npu::driver
