// SPDX-License-Identifier: Apache-2.0
// Calls of several tasks that meet at the worst moment.
#include <atomic>

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class QueueRaceTest : public QueueTest {
 protected:
  std::unique_ptr<platform::Task> task(std::function<void()> body) {
    auto made = fake.tasks().spawn("other", std::move(body));
    EXPECT_THAT(made, IsOk());
    return std::move(*made);
  }
  ManagementRing& ring() { return impl_of(*process).manager.ring(); }
};

// Nobody has looked at the log when the queue's id becomes another's.
TEST_F(QueueRaceTest, AnUnreadFaultIsNotTheNextQueues) {
  auto culprit = make();
  ASSERT_TRUE(submit(*culprit, entries::fill(kNowhere, 64, 0)));
  pass(1_ms);
  const auto id = culprit->id();
  culprit.reset();
  const auto heir = make();
  ASSERT_EQ(heir->id(), id);
  EXPECT_THAT(run(*heir), IsOk());
  EXPECT_FALSE(heir->faulted());
  const auto faults = process->take_faults();
  ASSERT_EQ(faults.size(), 1U) << "but it is not forgotten";
  EXPECT_EQ(faults[0].address, kNowhere.value);
}

TEST_F(QueueRaceTest, AnUnreadFaultIsNotTheNextProcess) {
  auto culprit = open_process();
  const auto pasid = culprit->pasid();
  auto queue = make(*culprit);
  cp.doorbell(4096 * culprit->doorbell_page() + 8 * 77, 8, 5);
  queue.reset();
  ASSERT_THAT(culprit->close(), IsOk());
  const auto heir = open_process();
  ASSERT_EQ(heir->pasid(), pasid);
  EXPECT_TRUE(heir->take_faults().empty());
}

// Somebody else waits for a card that does not answer, and has the process for that long.
TEST_F(QueueRaceTest, DestroyingASuspendedQueueHoldsItsDeadlineBesideALongCall) {
  const auto queue = make();
  ASSERT_EQ(process->suspend({queue->id()}, in(1_ms))[0], QueueResult::kDone);
  const auto deadline = in(2_ms);
  const auto other = task([&] {
    pass(1_ms);
    cp.stuck = true;
    EXPECT_THAT(process->query(queue->id()), FailsWith(ErrorCode::kTimeout));
    cp.stuck = false;
  });
  EXPECT_FALSE(process->destroy(*queue, deadline));
  EXPECT_LE(fake.scheduler.now(), deadline + 1_ms + 100_us);
  other->join();
  EXPECT_EQ(process->resume({queue->id()}, in(1_ms))[0], QueueResult::kDone);
}

// Who could not begin must not be taken for evicted.
TEST_F(QueueRaceTest, EvictingThatHasNotBegunSaysSo) {
  const auto queue = make();
  const auto other = task([&] {
    cp.stuck = true;
    EXPECT_THAT(process->query(queue->id()), FailsWith(ErrorCode::kTimeout));
    cp.stuck = false;
  });
  pass(1_ms);
  EXPECT_THAT(process->evict(in(1_ms)), FailsWith(ErrorCode::kBusy));
  other->join();
  EXPECT_EQ(process->evictions(), 0U);
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  EXPECT_EQ(process->evictions(), 1U);
  EXPECT_THAT(process->restore(in(1_ms)), IsOk());
}

// Its ring is given back to the heap from which that task takes one.
TEST_F(QueueRaceTest, DestroyingHoldsItsDeadlineBesideATaskThatWaitsForMemory) {
  QueueOptions options;
  options.ring = {QueueMemory::kDevice, 15};  // a page of the heap
  const auto queue = make(options);
  auto& memory = impl_of(*process).memory.mutex();
  const auto compaction = task([&] {
    memory.lock();
    pass(20_ms);
    memory.unlock();
  });
  std::unique_ptr<Queue> late;
  const auto other = task([&] { late = make(options); });
  pass(100_us);
  const auto deadline = in(1_ms);
  EXPECT_THAT(process->destroy(*queue, deadline), IsOk());
  EXPECT_LE(fake.scheduler.now(), deadline + 1_ms + 100_us);
  compaction->join();
  other->join();
}

// Compaction holds a queue for a while; that is not the end of what was submitted.
TEST_F(QueueRaceTest, DestroyingOutlastsACompaction) {
  const auto queue = make();
  cp.entry_latency = [](const abi::QueueEntry&) { return 100_us; };
  QueueTicket last;
  for (int i = 0; i < 3; ++i) last = *queue->submit(entries::nop(), in(1_ms));
  const auto compactor = task([&] {
    pass(50_us);
    EXPECT_THAT(impl_of(*process).quiesce(in(1_ms)), IsOk());
    pass(3_ms);
    impl_of(*process).resume();
  });
  const auto end = must(process->destroy(*queue, in(10_ms)));
  EXPECT_EQ(end, QueueEnd::kDrained);
  EXPECT_EQ(executed(*queue), 3U);
  EXPECT_THAT(queue->is_done(last), IsOk());
  compactor->join();
}

// An eviction by the process itself is: it is asked not to run the queue.
TEST_F(QueueRaceTest, DestroyingAnEvictedQueueDoesNotWaitForIt) {
  const auto queue = make();
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  ASSERT_TRUE(submit(*queue));
  const auto begin = fake.scheduler.now();
  EXPECT_EQ(*process->destroy(*queue, in(1_s)), QueueEnd::kDrained);
  EXPECT_LT(fake.scheduler.now() - begin, 1_ms);
  ASSERT_THAT(process->restore(in(1_ms)), IsOk());
}

// At whatever moment another task restarts the ring.
TEST_F(QueueRaceTest, ARestartOfTheRingLosesNoResume) {
  cp.command_latency = 20_us;
  const auto first = make(), second = make();
  for (auto when = 0_us; when <= 100_us; when += 5_us) {
    ASSERT_THAT(impl_of(*process).quiesce(in(1_ms)), IsOk());
    const auto restarter = task([&] {
      pass(when);
      EXPECT_THAT(ring().restart(in(1_ms)), IsOk());
    });
    impl_of(*process).resume();
    EXPECT_THAT(run(*first), IsOk()) << when.ns();
    EXPECT_THAT(run(*second), IsOk()) << when.ns();
    restarter->join();
  }
}

TEST_F(QueueRaceTest, ARestartOfTheRingLosesNoSuspendOrResumeById) {
  cp.command_latency = 20_us;
  const auto first = make(), second = make();
  const std::vector<QueueId> ids = {first->id(), second->id()};
  const std::vector<QueueResult> done(2, QueueResult::kDone);
  for (auto when = 0_us; when <= 100_us; when += 5_us) {
    const auto restarter = task([&] {
      pass(when);
      EXPECT_THAT(ring().restart(in(1_ms)), IsOk());
    });
    EXPECT_EQ(process->suspend(ids, in(1_ms)), done) << when.ns();
    EXPECT_EQ(process->resume(ids, in(1_ms)), done) << when.ns();
    EXPECT_THAT(run(*second), IsOk());
    restarter->join();
  }
}

TEST_F(QueueRaceTest, ARestartOfTheRingNeitherFailsCreatingNorLeaksByDestroying) {
  cp.command_latency = 20_us;
  for (const bool while_creating : {true, false}) {
    for (auto when = 0_us; when <= 150_us; when += 5_us) {
      auto queue = while_creating ? nullptr : make();
      const auto restarter = task([&] {
        pass(when);
        EXPECT_THAT(ring().restart(in(1_ms)), IsOk());
      });
      if (while_creating) queue = make();
      if (queue) queue.reset();
      restarter->join();
      EXPECT_EQ(cp.queues() + cp.processes(), 0U) << when.ns();
      EXPECT_EQ(statistics().queue_ids, 0U) << when.ns();
    }
  }
  process.reset();
  EXPECT_EQ(statistics().pasids + statistics().doorbell_pages, 0U);
}

// The card is stuck for a while at the end of a compaction.
TEST_F(QueueRaceTest, CompactionLeavesNoQueueStandingStill) {
  ProcessOptions options;
  options.command_timeout = 100_us;
  const auto other = open_process(options);
  const auto queue = make(*other);
  ASSERT_THAT(impl_of(*other).quiesce(in(1_ms)), IsOk());
  cp.stuck_opcodes.insert(static_cast<std::uint8_t>(abi::ManagementOpcode::kResume));
  fake.scheduler.at(in(50_us), [&] { cp.stuck_opcodes.clear(); });
  impl_of(*other).resume();
  EXPECT_THAT(run(*queue), IsOk());
}

// An error of one queue does not keep the others from their turn, and can be mended.
TEST_F(QueueRaceTest, RestoringGoesOnBehindAQueueThatTheCardRefuses) {
  const auto bad = make(), good = make();
  ASSERT_THAT(process->evict(in(1_ms)), IsOk());
  const auto at = impl_of(*process).manager.descriptor_address(bad->id().value);
  const std::uint8_t no_priority = 99;
  card.memory().write(at + offsetof(abi::QueueDescriptor, priority), &no_priority, 1);
  EXPECT_THAT(process->restore(in(1_ms)), FailsWith(ErrorCode::kBadDevice, "descriptor"));
  EXPECT_THAT(run(*good), IsOk());
  EXPECT_THAT(run(*bad), FailsWith(ErrorCode::kTimeout));
  EXPECT_THAT(change(*bad, {}), IsOk()) << "writes it anew";
  EXPECT_THAT(run(*bad), IsOk());
}

TEST_F(QueueRaceTest, AProcessDoesNotCloseWhileAQueueIsMade) {
  cp.command_latency = 50_us;
  const auto other = open_process();
  std::unique_ptr<Queue> queue;
  const auto creator = task([&] { queue = make(*other); });
  pass(20_us);
  EXPECT_THAT(other->close(), FailsWith(ErrorCode::kBusy));
  creator->join();
  EXPECT_THAT(run(*queue), IsOk());
  queue.reset();
  EXPECT_THAT(other->close(), IsOk());
}

TEST_F(QueueRaceTest, ASuspendedQueueIsDestroyedByOneOfTwoTasks) {
  const auto queue = make();
  process->suspend({queue->id()}, in(1_ms));
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(3);
  std::atomic<int> destroyed{0};
  for (int t = 0; t < 3; ++t) {
    tasks.push_back(task([&] {
      const auto end = process->destroy(*queue, in(10_ms));
      destroyed += end ? 1 : 0;
      if (!end) {
        EXPECT_TRUE(end.error().code == ErrorCode::kBusy ||
                    end.error().code == ErrorCode::kNotFound);
      }
    }));
  }
  pass(1_ms);
  process->resume({queue->id()}, in(1_ms));
  for (auto& each : tasks) each->join();
  EXPECT_EQ(destroyed, 1);
}

// A task that is held up between its look at the completions and the one at the fault.
TEST_F(QueueRaceTest, WhatEndedWellBeforeTheFaultIsNotReportedAsFailed) {
  const auto slow = make(), queue = make();
  process->on_fault([&](const QueueFault& fault) {
    if (fault.queue && *fault.queue == slow->id()) pass(1_ms);
  });
  cp.paused_queues.insert(queue->id().value);
  const auto good = queue->submit(entries::nop(), in(1_ms));
  ASSERT_TRUE(submit(*queue, entries::fill(kNowhere, 64, 0)));
  const auto behind = queue->submit(entries::nop(), in(1_ms));
  ASSERT_TRUE(submit(*slow, entries::fill(kNowhere, 64, 0)));
  const auto other = task([&] {
    pass(100_us);
    cp.resume();
    EXPECT_THAT(queue->wait(*behind, WaitPolicy::kPolling, in(1_ms)),
                FailsWith(ErrorCode::kDeviceFault));
  });
  pass(10_us);  // so that the first look finds the fault of the other queue
  EXPECT_THAT(queue->wait(*good, WaitPolicy::kPolling, in(10_ms)), IsOk());
  other->join();
}

// The card can neither be made to forget the queue nor, so, its process.
TEST_F(QueueRaceTest, NobodyElseGetsTheIdsOfAProcessTheCardStillKnows) {
  ProcessOptions options;
  options.command_timeout = 100_us;
  auto other = open_process(options);
  const auto vmid = other->vmid();
  const auto pasid = other->pasid(), page = other->doorbell_page();
  const auto free = device->memory_statistics().free;
  auto queue = make(*other);
  ASSERT_THAT(other->space().allocate(4_MiB), IsOk());
  cp.stuck_opcodes.insert(static_cast<std::uint8_t>(abi::ManagementOpcode::kRemoveQueue));
  queue.reset();
  cp.stuck_opcodes.clear();
  other.reset();
  EXPECT_EQ(device->memory_statistics().free, free) << "its memory is kept from the card";
  const auto next = open_process();
  EXPECT_NE(next->vmid(), vmid);
  EXPECT_NE(next->pasid(), pasid);
  EXPECT_NE(next->doorbell_page(), page);
  expect_leak = true;
  cp.reset();
}

}  // namespace
}  // namespace npu::driver
