// SPDX-License-Identifier: Apache-2.0
// An agenda's handlers come by their times, those of one time in the order in which they were
// pushed, however many there are.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "model/core/handler_queue.hpp"

namespace npu::model {
namespace {

void nothing(void*, std::uint64_t) {}

// Against a list of the standard library; pushes outweigh at first, so that many are far off.
void mirror(std::uint32_t seed, std::uint64_t spread) {
  HandlerQueue queue;
  std::multimap<std::uint64_t, std::uint64_t> expected;
  std::mt19937 random(seed);
  std::uint64_t now = 0;
  std::uint64_t pushed = 0;
  const auto take = [&] {
    ASSERT_EQ(queue.first(), expected.begin()->first);
    now = queue.first();
    ASSERT_EQ(queue.take().argument, expected.begin()->second);
    expected.erase(expected.begin());
  };
  for (unsigned step = 0; step < 20'000; ++step) {
    if (expected.empty() || random() % 100 < (step < 10'000 ? 53U : 47U)) {
      const auto when = now + random() % spread;
      expected.emplace(when, pushed);
      queue.push(when, {nullptr, pushed++, nothing});
    } else {
      take();
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
  while (!expected.empty()) take();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.first(), UINT64_MAX);
  EXPECT_EQ(queue.pushed(), pushed);
}

TEST(HandlerQueue, KeepsTimesAndTheOrderOfPushing) {
  for (const std::uint64_t spread : {1U, 2U, 10U, 1000U, 1'000'000U}) {
    for (std::uint32_t seed = 0; seed < 5; ++seed) mirror(seed, spread);
  }
}

// Of many at one time each pushes some for the same time and some for soon, while the next after
// them are far off.
TEST(HandlerQueue, HoldsThousandsOfOneTime) {
  HandlerQueue queue;
  std::multimap<std::uint64_t, std::uint64_t> expected;
  std::uint64_t pushed = 0;
  const auto push = [&](std::uint64_t when) {
    expected.emplace(when, pushed);
    queue.push(when, {nullptr, pushed++, nothing});
  };
  for (unsigned i = 0; i < 100; ++i) push(1'000'000'000 + i);
  for (unsigned i = 0; i < 2000; ++i) push(1000);
  std::mt19937 random(1);
  while (!expected.empty()) {
    const std::uint64_t now = queue.first();
    ASSERT_EQ(now, expected.begin()->first);
    ASSERT_EQ(queue.take().argument, expected.begin()->second);
    expected.erase(expected.begin());
    if (pushed > 20'000) continue;
    push(random() % 2 == 0 ? now : now + random() % 1000);
    if (random() % 4 == 0) push(now + random() % 5000);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(HandlerQueue, HoldsWhatNeverComes) {
  HandlerQueue queue;
  queue.push(UINT64_MAX, {nullptr, 1, nothing});
  queue.push(UINT64_MAX, {nullptr, 2, nothing});
  queue.push(7, {nullptr, 3, nothing});
  EXPECT_EQ(queue.take().argument, 3U);
  EXPECT_EQ(queue.first(), UINT64_MAX);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.take().argument, 1U);
  EXPECT_EQ(queue.take().argument, 2U);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace npu::model
