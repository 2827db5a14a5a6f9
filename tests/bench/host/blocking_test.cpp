// SPDX-License-Identifier: Apache-2.0
#include "npu/abi/pci.hpp"
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr std::uint64_t kBlock = 500'000, kWake = 4'500'000, kLock = 20'000;

// Waits on a vector that fires at `interrupt`; returns when the wait ended.
struct Waited {
  std::uint64_t end;
  bool woken;
  platform::CpuUsage usage;
};

Waited wait_for_interrupt(HostBench& bench, std::uint64_t interrupt, std::int64_t deadline) {
  Waited result{};
  auto state = bench.interrupts.open(kRequester, 3);
  if (interrupt != 0) {
    bench.at(interrupt, [&bench, state] {
      bench.interrupts.message(kRequester, model::Interrupts::kMessageAddress, state->data, 0);
    });
  }
  bench.run([&] {
    const std::uint64_t seen = state->count;
    const bool woken = bench.cpus.block(
        state->arrived, static_cast<std::uint64_t>(deadline), [&] { return state->count != seen; },
        "the test");
    result = {model::sim_now(), woken, bench.cpus.current().usage};
  });
  return result;
}

using Blocking = OnBench<HostBench>;

TEST_F(Blocking, WakesOneHalfContextSwitchAfterTheInterrupt) {
  const auto waited = wait_for_interrupt(bench, 20'000'000, 100'000'000);
  EXPECT_TRUE(waited.woken);
  EXPECT_EQ(waited.end, 20'000'000 + kWake);
  EXPECT_EQ(waited.usage.busy.count(), static_cast<std::int64_t>(kBlock + kWake));
  EXPECT_EQ(waited.usage.idle.count(), static_cast<std::int64_t>(20'000'000 - kBlock));
  EXPECT_EQ(waited.usage.context_switches, 1U);
}

TEST_F(Blocking, AnInterruptWhileGoingToSleepIsNotSleptOver) {
  const auto waited = wait_for_interrupt(bench, kBlock - 1, 100'000'000);
  EXPECT_TRUE(waited.woken);
  EXPECT_EQ(waited.end, kBlock);
  EXPECT_EQ(waited.usage.context_switches, 0U);
}

TEST_F(Blocking, GivesUpAtTheDeadline) {
  const auto waited = wait_for_interrupt(bench, 0, 50'000'000);
  EXPECT_FALSE(waited.woken);
  EXPECT_EQ(waited.end, 50'000'000 + kWake);
}

TEST_F(Blocking, MessagesOfUnknownVectorsAreCountedAsSpurious) {
  bench.interrupts.message(kRequester, model::Interrupts::kMessageAddress, 0x77, 0);
  EXPECT_EQ(bench.interrupts.spurious(), 1U);
}

TEST(Tasks, RunInParallelAndAreJoined) {
  HostBench bench;
  std::uint64_t end = 0;
  bench.run([&] {
    auto& tasks = static_cast<platform::Platform&>(bench.platform).tasks();
    auto& clock = static_cast<platform::Platform&>(bench.platform).clock();
    std::vector<std::unique_ptr<platform::Task>> started;
    started.reserve(7);
    for (int i = 0; i < 7; ++i) {
      started.push_back(*tasks.spawn("worker", [&] {
        for (int k = 0; k < 1000; ++k) clock.relax({}, Instant::never());
      }));
    }
    started.clear();
    end = model::sim_now();
  });
  // Eight calls to spawn, then one worker's length plus a context switch at most: no adding up.
  EXPECT_GE(end, 37'000'000U);
  EXPECT_LT(end, 37'000'000U + 8 * 300'000U + kBlock + 2 * kWake);
}

// A task that takes the mutex at 0 and computes for 10 us before it gives it back.
std::unique_ptr<platform::Task> holder_of(HostBench& bench, platform::Mutex& mutex) {
  return *bench.tasks().spawn("holder", [&] {
    mutex.lock();
    bench.cpus.charge(10_us);
    mutex.unlock();
  });
}

TEST(Mutex, IsHeldUntilTheHoldersComputingIsDone) {
  HostBench bench;
  std::uint64_t begin = 0, taken = 0;
  bench.run([&] {
    const auto mutex = bench.tasks().make_mutex();
    const auto holder = holder_of(bench, *mutex);
    begin = model::sim_now();
    bench.cpus.charge(3_us);
    mutex->lock();
    taken = bench.cpus.local_now();
    mutex->unlock();
  });
  EXPECT_EQ(taken - begin, kLock + 10'000'000 + kWake + kLock);
}

TEST(Mutex, IsNotTakenBeforeTheTakersComputingIsDone) {
  HostBench bench;
  std::uint64_t begin = 0, taken = 0;
  bench.run([&] {
    const auto mutex = bench.tasks().make_mutex();
    auto late = *bench.tasks().spawn("late", [&] {
      bench.cpus.charge(10_us);
      mutex->lock();
      bench.cpus.charge(10_us);
      bench.cpus.synchronise();
      mutex->unlock();
    });
    begin = model::sim_now();
    bench.cpus.charge(3_us);
    bench.cpus.synchronise();  // the other one has had its turn
    mutex->lock();
    taken = bench.cpus.local_now();
    mutex->unlock();
  });
  EXPECT_EQ(taken - begin, 3'000'000 + kLock) << "it was free";
}

TEST(Condition, IsNotWokenByWhatCameBeforeTheWaitersComputingWasDone) {
  on_bench<HostBench>([](HostBench& bench) {
    const auto mutex = bench.tasks().make_mutex();
    const auto condition = bench.tasks().make_condition();
    auto notifier = *bench.tasks().spawn("notifier", [&] {
      bench.cpus.charge(5_us);
      condition->notify_all();
    });
    mutex->lock();
    bench.cpus.charge(10_us);
    EXPECT_FALSE(condition->wait(*mutex, bench.clock().now() + 1_us).has_value());
    mutex->unlock();
  });
}

TEST(Tasks, ConditionWaitersSeeTheNotificationOrTheDeadline) {
  on_bench<HostBench>([](HostBench& bench) {
    auto& host = static_cast<platform::Platform&>(bench.platform);
    const auto mutex = host.tasks().make_mutex();
    const auto condition = host.tasks().make_condition();
    bool flag = false;
    auto setter = host.tasks().spawn("setter", [&] {
      host.clock().sleep_until(host.clock().now() + 30_us);
      mutex->lock();
      flag = true;
      mutex->unlock();
      condition->notify_all();
    });
    mutex->lock();
    EXPECT_TRUE(condition->wait(*mutex, host.clock().now() + 1_ms).has_value());
    EXPECT_TRUE(flag);
    const auto late = condition->wait(*mutex, host.clock().now() + 1_us);
    EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
    mutex->unlock();
  });
}

}  // namespace
}  // namespace npu::test
