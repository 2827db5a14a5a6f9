// SPDX-License-Identifier: Apache-2.0
// MSI-X vectors: they count, so that nothing that comes before the wait is lost.
#include <gtest/gtest.h>

#include "tests/contract/contract_case.hpp"
#include "tests/contract/raw_card.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

constexpr auto kCopy = abi::DmaOpcode::kDeviceToDevice;

void interrupts_are_counted(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto vector = must(platform.open_vector(*environment.card(), 3));
  const auto card = RawCard::open(platform, *environment.card(), 3);
  ASSERT_NE(card, nullptr);
  const auto seen = vector->count();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    card->submit(kCopy, 0, 0x1000);
    const auto count = must(vector->wait_after(seen + i - 1, platform.clock().now() + 100_ms));
    EXPECT_EQ(count, seen + i);
  }
}

void an_interrupt_before_the_wait_is_not_lost(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto vector = must(platform.open_vector(*environment.card(), 0));
  const auto card = RawCard::open(platform, *environment.card());
  ASSERT_NE(card, nullptr);
  const auto seen = vector->count();
  card->submit(kCopy, 0, 0x1000);
  ASSERT_TRUE(card->wait_done(100_ms));
  platform.clock().sleep_until(platform.clock().now() + 1_ms);
  const auto begin = platform.clock().now();
  EXPECT_THAT(vector->wait_after(seen, begin + 100_ms), IsOk());
  EXPECT_LT(platform.clock().now() - begin, 50_ms);
}

void a_wait_ends_at_its_deadline(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto vector = must(platform.open_vector(*environment.card(), 0));
  const auto deadline = platform.clock().now() + 2_ms;
  EXPECT_THAT(vector->wait_after(vector->count(), deadline), FailsWith(ErrorCode::kTimeout));
  EXPECT_GE(platform.clock().now(), deadline);
  const auto look = deadline + 2_ms;
  EXPECT_THAT(vector->daemon_wait_after(vector->count(), look), FailsWith(ErrorCode::kTimeout));
  EXPECT_GE(platform.clock().now(), look);
  if (environment.is_exact()) {
    EXPECT_LT(platform.clock().now(), look + 100_us);
  }
  for (const auto past : {Instant(), Instant(Picoseconds(-1)), Instant(Picoseconds(INT64_MIN))}) {
    EXPECT_THAT(vector->wait_after(vector->count(), past), FailsWith(ErrorCode::kTimeout));
  }
}

void a_wake_up_counts_as_an_interrupt(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto vector = must(platform.open_vector(*environment.card(), 0));
  const auto seen = vector->count();
  vector->wake();
  EXPECT_EQ(vector->count(), seen + 1) << "before the wait";
  bool woken = false;
  const auto task = must(platform.tasks().spawn("waiter", [&] {
    woken = vector->wait_after(seen + 1, platform.clock().now() + 1_s).has_value();
  }));
  platform.clock().sleep_until(platform.clock().now() + 1_ms);
  vector->wake();
  task->join();
  EXPECT_TRUE(woken) << "during the wait";
}

void an_interrupt_wakes_every_waiter(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  auto vector = platform.open_vector(*environment.card(), 0);
  ASSERT_THAT(vector, IsOk());
  const auto card = RawCard::open(platform, *environment.card());
  ASSERT_NE(card, nullptr);
  const auto seen = (*vector)->count();
  int woken = 0;
  std::vector<std::unique_ptr<platform::Task>> tasks;
  const auto mutex = platform.tasks().make_mutex();
  tasks.reserve(3);
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(must(platform.tasks().spawn("waiter", [&] {
      const bool ok = (*vector)->wait_after(seen, platform.clock().now() + 100_ms).has_value();
      mutex->lock();
      woken += ok ? 1 : 0;
      mutex->unlock();
    })));
  }
  platform.clock().sleep_until(platform.clock().now() + 1_ms);
  card->submit(kCopy, 0, 0x1000);
  for (auto& task : tasks) task->join();
  EXPECT_EQ(woken, 3);
}

void a_vector_can_be_opened_once(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  const auto bdf = *environment.card();
  auto vector = must(platform.open_vector(bdf, 5));
  EXPECT_THAT(platform.open_vector(bdf, 5), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_THAT(platform.open_vector(bdf, 6), IsOk());
  vector.reset();
  EXPECT_THAT(platform.open_vector(bdf, 5), IsOk());
}

void vectors_beyond_the_table_are_refused(ContractEnvironment& environment) {
  auto& platform = environment.platform();
  EXPECT_THAT(platform.open_vector(*environment.card(), 2048), FailsWith(ErrorCode::kOutOfRange));
  EXPECT_THAT(platform.open_vector(environment.absent(), 0), FailsWith(ErrorCode::kNotFound));
}

}  // namespace

ContractCases interrupt_cases() {
  return {
      {"InterruptsAreCounted", true, interrupts_are_counted},
      {"AnInterruptBeforeTheWaitIsNotLost", true, an_interrupt_before_the_wait_is_not_lost},
      {"AWaitEndsAtItsDeadline", true, a_wait_ends_at_its_deadline},
      {"AWakeUpCountsAsAnInterrupt", true, a_wake_up_counts_as_an_interrupt},
      {"AnInterruptWakesEveryWaiter", true, an_interrupt_wakes_every_waiter},
      {"AVectorCanBeOpenedOnce", true, a_vector_can_be_opened_once},
      {"VectorsBeyondTheTableAreRefused", true, vectors_beyond_the_table_are_refused},
  };
}

}  // namespace npu::test
