// SPDX-License-Identifier: Apache-2.0
// How an adaptive wait decides, with the default options (11 us, 45 us) and wake-ups of 5 us.
#include "driver/event/wait_plan.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

using Kind = WaitPlan::Kind;

constexpr Picoseconds kWake = 5_us;
constexpr Instant kSubmitted(1_ms);

WaitPlan plan(Picoseconds mean, Picoseconds early, bool was_long = false,
              Picoseconds after_submission = {}) {
  return plan_wait({}, kWake, {true, mean, early, was_long}, kSubmitted,
                   kSubmitted + after_submission);
}
WaitPlan steady(Picoseconds mean, bool was_long = false, Picoseconds after_submission = {}) {
  return plan(mean, mean, was_long, after_submission);
}

TEST(WaitPlan, SpinsForAContextSwitchIfNothingIsKnown) {
  const auto unknown = plan_wait({}, kWake, {}, kSubmitted, kSubmitted + 1_us);
  EXPECT_EQ(unknown.kind, Kind::kSpin);
  EXPECT_EQ(unknown.spin_end, kSubmitted + 1_us + kWake);
}

TEST(WaitPlan, SpinsForAContextSwitchIfTheCommandIsLongOverdue) {
  const auto overdue = steady(20_us, false, 32_us);
  EXPECT_EQ(overdue.kind, Kind::kSpin);
  EXPECT_EQ(overdue.spin_end, kSubmitted + 32_us + kWake);
}

TEST(WaitPlan, SpinsUpTo10UsHoweverTheStreamScatters) {
  for (const auto mean : {1_us, 5_us, 10_us}) {
    EXPECT_EQ(steady(mean).kind, Kind::kSpin);
    EXPECT_EQ(plan(mean, Picoseconds()).kind, Kind::kSpin);
    EXPECT_EQ(steady(mean, true).kind, Kind::kSpin);
    EXPECT_EQ(steady(mean).spin_end, kSubmitted + mean + 11_us);
  }
}

TEST(WaitPlan, SleepsFrom50UsOnHoweverTheStreamScatters) {
  for (const auto mean : {50_us, 100_us, 500_us}) {
    EXPECT_EQ(steady(mean).kind, Kind::kSleep);
    EXPECT_EQ(plan(mean, Picoseconds()).kind, Kind::kSleep);
    EXPECT_TRUE(steady(mean).is_long);
  }
}

// What counts is what is left.
TEST(WaitPlan, SpinsForTheEndOfALongCommand) {
  EXPECT_EQ(steady(100_us, true, 95_us).kind, Kind::kSpin);
  EXPECT_EQ(steady(100_us, true, 80_us).kind, Kind::kNap);
}

// Woken a quarter of a wake-up and one wake-up before the end.
TEST(WaitPlan, NapsWhereTheStreamIsSteady) {
  for (const auto mean : {12_us, 20_us, 30_us, 44_us}) {
    const auto nap = steady(mean);
    EXPECT_EQ(nap.kind, Kind::kNap);
    EXPECT_EQ(nap.nap_end, kSubmitted + mean - 6250_ns);
    EXPECT_EQ(nap.spin_end, kSubmitted + mean + 11_us);
  }
}

TEST(WaitPlan, NapsUntilTheEarlyOnes) {
  EXPECT_EQ(plan(20_us, 18_us).nap_end, kSubmitted + 18_us - 6250_ns);
}

// In the middle between 11 and 45 us half of 11 - 6.25 us of scatter is worth it.
TEST(WaitPlan, SleepsWhereANapWouldBurnTooMuch) {
  EXPECT_EQ(plan(28_us, 28_us - 2370_ns).kind, Kind::kNap);
  const auto scattering = plan(28_us, 28_us - 2380_ns);
  EXPECT_EQ(scattering.kind, Kind::kSleep);
  EXPECT_FALSE(scattering.is_long);
  EXPECT_EQ(plan(44_us, 43_us).kind, Kind::kSleep);
  EXPECT_EQ(plan(12_us, 8_us).kind, Kind::kNap);
}

// Streams that share a link: commands get shorter by a wake-up when the waiters sleep.
TEST(WaitPlan, GoesOnSleepingUntilAWakeUpBelowTheLimit) {
  EXPECT_EQ(steady(44_us, false).kind, Kind::kNap);
  EXPECT_EQ(steady(44_us, true).kind, Kind::kSleep);
  EXPECT_TRUE(steady(40_us, true).is_long);
  EXPECT_EQ(steady(39_us, true).kind, Kind::kNap);
}

// Where a wake-up costs more than the longest spin no nap is worth it.
TEST(WaitPlan, NeverNapsOnASlowHost) {
  for (const auto mean : {12_us, 20_us, 40_us}) {
    const auto slow = plan_wait({}, 20_us, {true, mean, mean, false}, kSubmitted, kSubmitted);
    EXPECT_EQ(slow.kind, Kind::kSleep);
  }
}

}  // namespace
}  // namespace npu::driver
