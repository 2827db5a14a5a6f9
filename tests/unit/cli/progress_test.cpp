// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/progress.hpp"

#include <gtest/gtest.h>

namespace npu::cli {
namespace {

constexpr Picoseconds kMillisecond{1'000'000'000};

TEST(Progress, TimesHaveTheUnitThatFits) {
  EXPECT_EQ(time_text(Picoseconds(1)), "0.001 ns");
  EXPECT_EQ(time_text(Picoseconds(999'999)), "999.999 ns");
  EXPECT_EQ(time_text(Picoseconds(12'345'000)), "12.345 us");
  EXPECT_EQ(time_text(3 * kMillisecond), "3.000 ms");
  EXPECT_EQ(time_text(4500 * kMillisecond), "4.500 s");
}

TEST(Progress, WithoutATotalItSaysWhatWasSimulatedAndHowFast) {
  ProgressState state;
  EXPECT_EQ(state.text(3 * kMillisecond, WallTime(2000)), "3.000 ms simulated, 1.500 ms/s");
  state.step("scanning", 0, 1, WallTime(0));
  EXPECT_EQ(state.text(3 * kMillisecond, WallTime(2000)),
            "scanning, 3.000 ms simulated, 1.500 ms/s");
  EXPECT_LT(state.share(), 0);
}

TEST(Progress, TheTimeLeftFollowsFromWhatWasDoneAndRunsDown) {
  ProgressState state;
  state.step("h2d", 0, 4, WallTime(1000));
  EXPECT_EQ(state.text({}, WallTime(5000)), "h2d, 0 %");
  state.step("h2d", 1, 4, WallTime(11'000));
  EXPECT_EQ(state.text({}, WallTime(11'000)), "h2d, 25 %, 30 s left");
  EXPECT_EQ(state.text({}, WallTime(21'000)), "h2d, 25 %, 20 s left");
  EXPECT_EQ(state.text({}, WallTime(60'000)), "h2d, 25 %") << "nobody knows any more";
}

TEST(Progress, LongTimesAreMinutesAndHours) {
  ProgressState state;
  state.step("", 0, 2, WallTime(0));
  state.step("", 1, 2, WallTime(600'000));
  EXPECT_EQ(state.text({}, WallTime(600'000)), "50 %, 10 min left");
  state.step("", 1, 2, WallTime(9'000'000));
  EXPECT_EQ(state.text({}, WallTime(9'000'000)), "50 %, 2 h 30 min left");
}

TEST(Progress, AnotherPartOfTheRunBeginsAnew) {
  ProgressState state;
  state.step("a", 5, 10, WallTime(100));
  EXPECT_EQ(state.tenths(), 5U);
  state.step("b", 0, 10, WallTime(300));
  EXPECT_EQ(state.began().count(), 300);
  EXPECT_EQ(state.tenths(), 0U);
  state.step("b", 200, 20, WallTime(400));
  EXPECT_EQ(state.tenths(), 10U) << "more than all is all";
}

TEST(Progress, TotalsAtTheEndOfTheRangeDoNotOverflow) {
  ProgressState state;
  state.step("", UINT64_MAX / 2, UINT64_MAX, WallTime(1000));
  EXPECT_EQ(state.tenths(), 5U);
}

}  // namespace
}  // namespace npu::cli
