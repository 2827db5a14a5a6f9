// SPDX-License-Identifier: Apache-2.0
// Clock, tasks, mutex and condition.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/contract/contract_case.hpp"
#include "tests/contract/raw_card.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

void time_goes_on_while_polling(ContractEnvironment& environment) {
  auto& clock = environment.platform().clock();
  const auto begin = clock.now();
  auto last = begin;
  for (int i = 0; i < 1000; ++i) {
    clock.relax({}, begin + 1_s);
    const auto now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, begin);
}

void sleep_lasts_until_its_deadline(ContractEnvironment& environment) {
  auto& clock = environment.platform().clock();
  const auto deadline = clock.now() + 3_ms;
  clock.sleep_until(deadline);
  EXPECT_GE(clock.now(), deadline);
  if (environment.is_exact()) {
    EXPECT_LT(clock.now(), deadline + 100_us);
  }
  clock.sleep_until(deadline);  // in the past: returns
}

void a_poll_loop_on_quiet_memory_ends_at_its_deadline(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto memory = must(platform.allocate_dma(*environment.card(), 4096, 4096,
                                           platform::DmaDirection::kDeviceWrites));
  auto& clock = platform.clock();
  const auto deadline = clock.now() + 1_ms;
  while (clock.now() < deadline) clock.relax(memory->cpu().subspan(0, 8), deadline);
  if (environment.is_exact()) {
    EXPECT_LT(clock.now(), deadline + 10_us);
  }
}

// relax() may skip rounds, but not past a change: the loop sees the record long before the
// deadline.
void a_poll_loop_sees_what_the_device_writes(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto card = RawCard::open(platform, *environment.card());
  ASSERT_NE(card, nullptr);
  const auto begin = platform.clock().now();
  card->submit(abi::DmaOpcode::kDeviceToDevice, 0, 0x1000);
  EXPECT_TRUE(card->wait_done(1_s));
  EXPECT_LT(platform.clock().now() - begin, 500_ms);
}

void tasks_run_side_by_side(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto begin = platform.clock().now();
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(3);
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(must(
        platform.tasks().spawn("sleeper", [&] { platform.clock().sleep_until(begin + 10_ms); })));
  }
  for (auto& task : tasks) task->join();
  tasks[0]->join();  // a second time: returns
  EXPECT_GE(platform.clock().now(), begin + 10_ms);
  if (environment.is_exact()) {
    EXPECT_LT(platform.clock().now(), begin + 11_ms);
  }
}

void polling_is_busy_and_sleeping_is_idle(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto task = must(platform.tasks().spawn("worker", [&] {
    auto& clock = platform.clock();
    const auto until = clock.now() + 2_ms;
    while (clock.now() < until) clock.relax({}, until);
    clock.sleep_until(clock.now() + 20_ms);
  }));
  task->join();
  const auto usage = task->cpu_usage();
  EXPECT_GT(usage.busy, Picoseconds());
  EXPECT_GE(usage.idle, 15_ms);
  EXPECT_GE(usage.context_switches, 1U);
  if (environment.is_exact()) {
    EXPECT_GE(usage.busy, 2_ms);
    EXPECT_LT(usage.busy, 3_ms);
  }
}

void a_mutex_excludes(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto mutex = platform.tasks().make_mutex();
  int inside = 0;
  int worst = 0;
  int entered = 0;
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(3);
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(must(platform.tasks().spawn("worker", [&] {
      for (int round = 0; round < 20; ++round) {
        mutex->lock();
        worst = std::max(worst, ++inside);
        ++entered;
        platform.clock().relax({}, platform.clock().now() + 1_ms);
        --inside;
        mutex->unlock();
      }
    })));
  }
  for (auto& task : tasks) task->join();
  EXPECT_EQ(worst, 1);
  EXPECT_EQ(entered, 60);
}

void a_mutex_that_stays_taken_is_given_up_at_the_deadline(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto mutex = platform.tasks().make_mutex();
  mutex->lock();
  bool taken = true;
  Instant deadline, end;
  const auto task = must(platform.tasks().spawn("waiter", [&] {
    deadline = platform.clock().now() + 1_ms;
    taken = mutex->try_lock_until(deadline);
    end = platform.clock().now();
  }));
  task->join();
  EXPECT_FALSE(taken);
  EXPECT_GE(end, deadline);
  mutex->unlock();
  EXPECT_TRUE(mutex->try_lock_until(deadline)) << "it is free";
  mutex->unlock();
}

// Its owner gives it back and takes it again at once: who waits may have been too slow, and waits
// on.
void a_mutex_that_was_free_for_a_moment_is_waited_for(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto& clock = platform.clock();
  const auto mutex = platform.tasks().make_mutex();
  bool taken = false;
  mutex->lock();
  const auto task = must(platform.tasks().spawn("waiter", [&] {
    taken = mutex->try_lock_until(clock.now() + 10_s);
    if (taken) mutex->unlock();
  }));
  for (int i = 0; i < 5; ++i) {
    clock.sleep_until(clock.now() + 1_ms);
    mutex->unlock();
    mutex->lock();
  }
  clock.sleep_until(clock.now() + 1_ms);
  mutex->unlock();
  task->join();
  EXPECT_TRUE(taken);
}

void a_condition_wakes_its_waiters(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto mutex = platform.tasks().make_mutex();
  const auto condition = platform.tasks().make_condition();
  bool ready = false;
  auto task = must(platform.tasks().spawn("notifier", [&] {
    platform.clock().sleep_until(platform.clock().now() + 1_ms);
    mutex->lock();
    ready = true;
    condition->notify_all();
    mutex->unlock();
  }));
  mutex->lock();
  const auto deadline = platform.clock().now() + 10_s;
  while (!ready) ASSERT_THAT(condition->wait(*mutex, deadline), IsOk());
  mutex->unlock();
  task->join();
}

void a_condition_times_out_and_holds_the_mutex_again(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto mutex = platform.tasks().make_mutex();
  const auto condition = platform.tasks().make_condition();
  mutex->lock();
  const auto deadline = platform.clock().now() + 1_ms;
  EXPECT_THAT(condition->wait(*mutex, deadline), FailsWith(ErrorCode::kTimeout));
  EXPECT_THAT(condition->daemon_wait(*mutex, deadline + 1_ms), FailsWith(ErrorCode::kTimeout));
  EXPECT_GE(platform.clock().now(), deadline);
  mutex->unlock();
  mutex->lock();
  mutex->unlock();
}

void causes_nest(ContractEnvironment& environment) {
  auto& tracer = environment.platform().tracer();
  if (!tracer.enabled()) return;
  const auto outer = tracer.exchange_cause(5);
  { const platform::CauseScope scope(tracer, 7); }
  EXPECT_EQ(tracer.exchange_cause(outer), 5U);
  EXPECT_EQ(tracer.track("contract"), tracer.track("contract"));
}

}  // namespace

ContractCases time_cases() {
  return {
      {"TimeGoesOnWhilePolling", false, time_goes_on_while_polling},
      {"SleepLastsUntilItsDeadline", false, sleep_lasts_until_its_deadline},
      {"APollLoopOnQuietMemoryEndsAtItsDeadline", true,
       a_poll_loop_on_quiet_memory_ends_at_its_deadline},
      {"APollLoopSeesWhatTheDeviceWrites", true, a_poll_loop_sees_what_the_device_writes},
      {"TasksRunSideBySide", false, tasks_run_side_by_side},
      {"PollingIsBusyAndSleepingIsIdle", false, polling_is_busy_and_sleeping_is_idle},
      {"AMutexExcludes", false, a_mutex_excludes},
      {"AMutexThatStaysTakenIsGivenUpAtTheDeadline", false,
       a_mutex_that_stays_taken_is_given_up_at_the_deadline},
      {"AMutexThatWasFreeForAMomentIsWaitedFor", false,
       a_mutex_that_was_free_for_a_moment_is_waited_for},
      {"AConditionWakesItsWaiters", false, a_condition_wakes_its_waiters},
      {"AConditionTimesOutAndHoldsTheMutexAgain", false,
       a_condition_times_out_and_holds_the_mutex_again},
      {"CausesNest", false, causes_nest},
  };
}

}  // namespace npu::test
