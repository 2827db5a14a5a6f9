// SPDX-License-Identifier: Apache-2.0
// kfdtest's KFDEventTest, and signals between queues.
#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class SignalTest : public QueueTest {
 protected:
  Signals& signals() { return process->signals(); }
  SignalId signal(bool auto_reset = false) {
    SignalOptions options;
    options.auto_reset = auto_reset;
    return *signals().create(options);
  }
  Status wait(SignalId id, Picoseconds limit = 10_us) {
    return signals().wait(id, WaitPolicy::kPolling, in(limit));
  }
};

TEST_F(SignalTest, AllSlotsOfAProcessCanBeUsed) {
  ProcessOptions options;
  options.signals = 4096;
  const auto other = open_process(options);
  for (std::uint32_t i = 0; i < 4096; ++i) EXPECT_EQ(other->signals().create()->value, i);
  EXPECT_THAT(other->signals().create(), FailsWith(ErrorCode::kOutOfResources, "all 4096"));
  EXPECT_THAT(other->signals().destroy(SignalId{1000}), IsOk());
  EXPECT_EQ(other->signals().create()->value, 1000U);
  EXPECT_EQ(other->signals().in_use(), 4096U);
  options.signals = 4097;
  EXPECT_THAT(ProcessContext::open(*device, options), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(SignalTest, IsRaisedToAValueAndNeverLowered) {
  const auto id = signal();
  const auto queue = make();
  const auto wait_entry = entries::wait_event(id, 50);
  const auto ticket = must(queue->submit(wait_entry, in(1_ms)));
  ASSERT_THAT(signals().raise(id, 49), IsOk());
  pass(1_ms);
  EXPECT_FALSE(*queue->is_done(ticket));
  ASSERT_THAT(signals().raise(id, 50), IsOk());
  EXPECT_THAT(queue->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
  ASSERT_THAT(signals().raise(id, 7), IsOk());
  EXPECT_EQ(*signals().age(id), 50U);
}

TEST_F(SignalTest, StaysSetUntilItIsReset) {
  const auto id = signal();
  EXPECT_THAT(wait(id), FailsWith(ErrorCode::kTimeout));
  ASSERT_THAT(signals().set(id), IsOk());
  EXPECT_THAT(wait(id), IsOk());
  EXPECT_THAT(wait(id), IsOk());
  ASSERT_THAT(signals().reset(id), IsOk());
  EXPECT_THAT(wait(id), FailsWith(ErrorCode::kTimeout));
}

TEST_F(SignalTest, AutoResetIsTakenByOneWait) {
  const auto id = signal(true);
  ASSERT_THAT(signals().set(id), IsOk());
  EXPECT_THAT(wait(id), IsOk());
  EXPECT_THAT(wait(id), FailsWith(ErrorCode::kTimeout));
}

TEST_F(SignalTest, AutoResetWakesOneOfSeveralWaiters) {
  const auto id = signal(true);
  int woken = 0;
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(4);
  for (int t = 0; t < 4; ++t) {
    tasks.push_back(std::move(*fake.tasks().spawn("waiter", [&] {
      if (wait(id, 5_ms)) ++woken;
    })));
  }
  pass(100_us);
  ASSERT_THAT(signals().set(id), IsOk());
  for (auto& task : tasks) task->join();
  EXPECT_EQ(woken, 1);
}

// SignalEventExt: 1 -> 2 -> 3.
TEST_F(SignalTest, AWaiterWithAnOldAgeReturnsAtOnce) {
  const auto id = signal();
  EXPECT_EQ(*signals().age(id), 1U);
  ASSERT_THAT(signals().set(id), IsOk());
  std::vector<SignalWait> waits{{id, 1}};
  auto begin = fake.scheduler.now();
  ASSERT_THAT(signals().wait_any(waits, WaitPolicy::kPolling, in(1_s)), IsOk());
  EXPECT_EQ(fake.scheduler.now(), begin);
  EXPECT_EQ(*waits[0].age, 2U);
  EXPECT_THAT(signals().wait_any(waits, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kTimeout));
  ASSERT_THAT(signals().set(id), IsOk());
  ASSERT_THAT(signals().wait_any(waits, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_EQ(*waits[0].age, 3U);
}

TEST_F(SignalTest, AgeZeroAlwaysSleepsAndStays) {
  const auto id = signal();
  ASSERT_THAT(signals().set(id), IsOk());
  std::vector<SignalWait> waits{{id, 0}};
  EXPECT_THAT(signals().wait_any(waits, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kTimeout));
  auto task = fake.tasks().spawn("setter", [&] {
    pass(100_us);
    EXPECT_THAT(signals().set(id), IsOk());
  });
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(signals().wait_any(waits, WaitPolicy::kPolling, in(1_s)), IsOk());
  EXPECT_GE(fake.scheduler.now() - begin, 100_us);
  EXPECT_EQ(*waits[0].age, 0U);
  (*task)->join();
}

TEST_F(SignalTest, WaitAnySaysWhichAndWaitAllWaitsForEach) {
  std::vector<SignalWait> waits;
  waits.reserve(64);
  for (int i = 0; i < 64; ++i) waits.push_back({signal(true), std::nullopt});
  ASSERT_THAT(signals().set(waits[40].signal), IsOk());
  const auto met = must(signals().wait_any(waits, WaitPolicy::kPolling, in(1_ms)));
  EXPECT_EQ(met, 40U);
  for (std::size_t i = 1; i < 64; ++i) ASSERT_THAT(signals().set(waits[i].signal), IsOk());
  EXPECT_THAT(signals().wait_all(waits, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kTimeout, "all of 64"));
  EXPECT_TRUE(*signals().is_set(waits[5].signal)) << "a wait that fails takes nothing";
  ASSERT_THAT(signals().set(waits[0].signal), IsOk());
  EXPECT_THAT(signals().wait_all(waits, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_FALSE(*signals().is_set(waits[5].signal));
}

TEST_F(SignalTest, MisuseHasItsError) {
  const auto id = signal();
  std::vector<SignalWait> none;
  EXPECT_THAT(signals().wait_any(none, WaitPolicy::kPolling, in(1_ms)),
              FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_THAT(signals().destroy(id), IsOk());
  EXPECT_THAT(signals().destroy(id), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(signals().set(id), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(wait(id), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(signals().set(SignalId{100'000}), FailsWith(ErrorCode::kNotFound));
}

TEST_F(SignalTest, DestroyingASignalEndsItsWaits) {
  const auto id = signal();
  auto task = fake.tasks().spawn("destroyer", [&] {
    pass(50_us);
    EXPECT_THAT(signals().destroy(id), IsOk());
  });
  EXPECT_THAT(wait(id, 1_s), FailsWith(ErrorCode::kAborted));
  (*task)->join();
}

TEST_F(SignalTest, AnEntrySetsASignalForTheHost) {
  const auto queue = make();
  const auto id = signal();
  for (std::uint64_t value = 2; value < 100; ++value) {
    ASSERT_TRUE(submit(*queue, entries::record_event(id, value)));
    ASSERT_THAT(wait(id, 1_ms), IsOk());
    EXPECT_EQ(*signals().age(id), value);
    ASSERT_THAT(signals().reset(id), IsOk());
  }
}

// With the process' vector an entry's interrupt wakes a sleeping waiter.
TEST_F(SignalTest, ASleepingWaiterIsWokenByTheInterrupt) {
  QueueOptions options;
  options.process_vector = true;
  const auto queue = make(options);
  const auto id = signal();
  cp.entry_latency = [](const abi::QueueEntry&) { return 300_us; };
  ASSERT_TRUE(submit(*queue, entries::record_event(id, 7)));
  const auto begin = fake.scheduler.now();
  ASSERT_THAT(signals().wait(id, WaitPolicy::kInterrupt, in(1_s)), IsOk());
  EXPECT_LT(fake.scheduler.now() - begin, 320_us);
}

// The host's own sleepers, too: an interrupt and a context switch, not a timer.
TEST_F(SignalTest, TheHostWakesASleepingTask) {
  const auto queue = make();
  const auto id = signal(), gone = signal();
  for (const bool by_destroying : {false, true}) {
    auto task = fake.tasks().spawn("setter", [&] {
      pass(100_us);
      EXPECT_THAT(by_destroying ? signals().destroy(gone) : signals().set(id), IsOk());
    });
    const auto begin = fake.scheduler.now();
    const auto end = signals().wait(by_destroying ? gone : id, WaitPolicy::kInterrupt, in(1_s));
    EXPECT_EQ(end.has_value(), !by_destroying);
    EXPECT_LT(fake.scheduler.now() - begin, 120_us);
    (*task)->join();
  }
}

TEST_F(SignalTest, SettingWhereNobodySleepsRaisesNoInterrupt) {
  const auto queue = make();
  const auto id = signal();
  fake.log_bus = true;
  ASSERT_THAT(signals().set(id), IsOk());
  fake.log_bus = false;
  EXPECT_EQ(fake.bus_log.back().value, id.value) << "without kSignalWakesHost";
}

// It has no doorbells on the card, so ringing them would be a fault.
TEST_F(SignalTest, AProcessWithoutQueuesSetsSignalsInSilence) {
  const auto id = signal();
  ASSERT_THAT(signals().set(id), IsOk());
  make().reset();
  ASSERT_THAT(signals().set(id), IsOk());
  EXPECT_EQ(*signals().age(id), 3U);
  EXPECT_TRUE(take_stray_faults(*device).empty());
  EXPECT_TRUE(process->take_faults().empty());
}

// Queues wait for each other on the device; the host only submits.
TEST_F(SignalTest, QueuesWaitForEachOtherWithoutTheHost) {
  const auto first = make(), second = make();
  const auto ping = signal(), pong = signal();
  const auto before = statistics().calls;
  for (std::uint64_t i = 2; i < 52; ++i) {
    ASSERT_TRUE(submit(*second, entries::wait_event(ping, i)));
    ASSERT_TRUE(submit(*second, entries::record_event(pong, i)));
  }
  pass(1_ms);
  EXPECT_EQ(executed(*second), 0U);
  QueueTicket last;
  for (std::uint64_t i = 2; i < 52; ++i) {
    ASSERT_TRUE(submit(*first, entries::record_event(ping, i)));
    last = *first->submit(entries::wait_event(pong, i), in(1_ms));
  }
  EXPECT_THAT(first->wait(last, WaitPolicy::kPolling, in(10_ms)), IsOk());
  EXPECT_EQ(executed(*first) + executed(*second), 200U);
  EXPECT_EQ(statistics().calls, before);
}

TEST_F(SignalTest, TheHostLetsAWaitingQueueGoOn) {
  const auto queue = make();
  const auto id = signal();
  const auto ticket = queue->submit(entries::wait_event(id, 2), in(1_ms));
  pass(100_us);
  EXPECT_FALSE(*queue->is_done(*ticket));
  ASSERT_THAT(signals().set(id), IsOk());
  EXPECT_THAT(queue->wait(*ticket, WaitPolicy::kPolling, in(20_us)), IsOk());
}

TEST_F(SignalTest, ProcessesDoNotSeeEachOthersSignals) {
  const auto other = open_process();
  const auto theirs = *other->signals().create();
  const auto queue = make();
  ASSERT_THAT(run(*queue, entries::record_event(theirs, 77)), IsOk());
  EXPECT_EQ(*other->signals().age(theirs), 1U);
}

}  // namespace
}  // namespace npu::driver
