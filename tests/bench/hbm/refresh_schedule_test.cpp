// SPDX-License-Identifier: Apache-2.0
// When refreshes fall due, whom they hold back and in which order the banks have their turns.
#include "model/hbm/refresh_schedule.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/hbm/address_map.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

RefreshSchedule schedule_of(const HbmTimings& timings, bool together) {
  return {timings, ChannelLayout(timings), together};
}

constexpr int kFirst = 0, kSecond = 16;  // lanes of both pseudo channels of one stack

TEST(HbmRefreshSchedule, BothPseudoChannelsStandStillUntilBothAreRefreshed) {
  auto schedule = schedule_of(test::ramulator_timings(), true);
  EXPECT_EQ(schedule.due(0), 3900);
  EXPECT_EQ(schedule.due(1), 3900);
  EXPECT_FALSE(schedule.gates(kFirst));
  schedule.fall_due(0);
  schedule.fall_due(1);
  EXPECT_TRUE(schedule.waits_for_other(1));
  EXPECT_FALSE(schedule.waits_for_other(0));
  schedule.finish(0, 4300);
  EXPECT_FALSE(schedule.waits_for_other(1));
  EXPECT_TRUE(schedule.gates(kFirst));
  EXPECT_TRUE(schedule.gates(kSecond));
  schedule.finish(1, 4310);
  EXPECT_FALSE(schedule.gates(kFirst));
  EXPECT_EQ(schedule.due(0), 7800);  // of tREFI, however late the first one was
  EXPECT_EQ(schedule.due(1), 7800);
}

TEST(HbmRefreshSchedule, PseudoChannelsThatShareAQueueTakeTurns) {
  auto schedule = schedule_of(test::dramsys_timings(), false);
  EXPECT_EQ(schedule.due(0), 3900);
  EXPECT_EQ(schedule.due(1), 1950);
  EXPECT_EQ(schedule.next_due(), 1950);
  schedule.fall_due(1);
  EXPECT_EQ(schedule.next_due(), 3900);  // the pending one is due no more
  const int second = 32;                 // there are two stacks
  EXPECT_TRUE(schedule.gates(second));
  EXPECT_FALSE(schedule.gates(second - 1));
  EXPECT_FALSE(schedule.waits_for_other(1));
  EXPECT_FALSE(schedule.waits_for_other(0));
}

TEST(HbmRefreshSchedule, AHotOneFallsDueMoreOften) {
  auto schedule = schedule_of(test::ramulator_timings(), true);
  schedule.set_pace(4);
  EXPECT_EQ(schedule.due(0), 3900);  // has been planned
  for (unsigned p = 0; p < 2; ++p) schedule.fall_due(p);
  for (unsigned p = 0; p < 2; ++p) schedule.finish(p, 4300);
  EXPECT_EQ(schedule.due(0), 3900 + 975);
  schedule.set_pace(1);
  for (unsigned p = 0; p < 2; ++p) schedule.fall_due(p);
  for (unsigned p = 0; p < 2; ++p) schedule.finish(p, 5300);
  EXPECT_EQ(schedule.due(0), 3900 + 975 + 3900);
}

TEST(HbmRefreshSchedule, OnePseudoChannelHasOneSchedule) {
  auto schedule = schedule_of(test::dramsim3_timings(), true);
  EXPECT_EQ(schedule.due(1), kNever);
  schedule.fall_due(0);
  EXPECT_EQ(schedule.next_due(), 7800);
}

TEST(HbmRefreshSchedule, PerBankRefreshHoldsBackTheBankWhoseTurnItIs) {
  auto schedule = schedule_of(test::with_bank_refresh(test::ramulator_timings()), true);
  EXPECT_EQ(schedule.due(0), 122);
  EXPECT_EQ(schedule.duration(), 160);
  schedule.fall_due(0);
  for (int lane = 0; lane < 2 * kSecond; ++lane) EXPECT_EQ(schedule.gates(lane), lane == kFirst);
  EXPECT_EQ(schedule.behind(0), 244);
  schedule.finish(0, 282);
  EXPECT_FALSE(schedule.gates(kFirst));
  EXPECT_EQ(schedule.lane(0), kFirst + 1);
  EXPECT_EQ(schedule.lane(1), kSecond);
}

// Every bank once before any has its second turn; what pads a rank has none.
void expect_rounds(const HbmTimings& timings) {
  auto schedule = schedule_of(timings, true);
  std::set<int> banks;
  for (unsigned stack = 0; stack < timings.stacks; ++stack) {
    for (unsigned group = 0; group < timings.bank_groups; ++group) {
      for (unsigned bank = 0; bank < timings.banks_per_group; ++bank) {
        banks.insert(lane_number(timings, 1, stack, group, bank));
      }
    }
  }
  const int last = *banks.rbegin();
  EXPECT_EQ(schedule.turns_before(last), static_cast<Clock>(banks.size()) - 1);
  for (int round = 0; round < 3; ++round) {
    std::set<int> refreshed;
    for (std::size_t turn = 0; turn < banks.size(); ++turn) {
      EXPECT_EQ(schedule.turns_before(schedule.lane(1)), 0);
      EXPECT_EQ(schedule.turns_before(last), static_cast<Clock>(banks.size() - 1 - turn));
      refreshed.insert(schedule.lane(1));
      schedule.fall_due(1);
      schedule.finish(1, schedule.due(1) + 160);
    }
    EXPECT_EQ(refreshed, banks);
  }
}

TEST(HbmRefreshSchedule, PerBankRefreshGoesRoundTheBanks) {
  HbmTimings timings = test::with_bank_refresh(test::dramsys_timings());
  expect_rounds(timings);
  timings.bank_groups = 3;  // twelve banks in sixteen lanes
  expect_rounds(timings);
}

TEST(HbmRefreshSchedule, SkippedRefreshesTakeTheirTurns) {
  HbmTimings timings = test::with_bank_refresh(test::dramsys_timings());
  for (const unsigned groups : {4U, 3U}) {
    timings.bank_groups = groups;
    auto one_by_one = schedule_of(timings, true), at_once = schedule_of(timings, true);
    for (int i = 0; i < 75; ++i) {
      one_by_one.fall_due(0);
      one_by_one.finish(0, one_by_one.due(0) + 160);
    }
    at_once.skip(0, 75);
    EXPECT_EQ(at_once.lane(0), one_by_one.lane(0));
    EXPECT_EQ(at_once.due(0), 76 * 122);
    EXPECT_EQ(one_by_one.due(0), 76 * 122);
  }
}

TEST(HbmRefreshSchedule, ABurstSeesTheRefreshesOfItsBank) {
  auto schedule = schedule_of(test::with_bank_refresh(test::ramulator_timings()), true);
  schedule.fall_due(0);
  schedule.finish(0, 282);
  EXPECT_EQ(schedule.windows_of(kFirst, 300).within(0, 1000), 282 - 122);
  EXPECT_EQ(schedule.windows_of(kFirst + 1, 200).within(0, 1000), 0);
  // The second bank's is due at 244, whether or not anything has looked at it.
  EXPECT_EQ(schedule.windows_of(kFirst + 1, 300).within(0, 300), 300 - 244);
  // The third one's is due behind it.
  EXPECT_EQ(schedule.windows_of(kFirst + 2, 400).within(0, 400), 400 - 366);
  EXPECT_EQ(schedule.windows_of_all(0).within(0, 1000), 0);
}

TEST(HbmRefreshSchedule, AllBanksOfAPseudoChannelSeeItsRefreshes) {
  auto schedule = schedule_of(test::ramulator_timings(), true);
  schedule.fall_due(1);
  schedule.finish(1, 4300);
  EXPECT_EQ(schedule.windows_of(kSecond + 5, 5000).within(0, 5000), 400);
  EXPECT_EQ(schedule.windows_of_all(1).within(0, 5000), 400);
  EXPECT_EQ(schedule.windows_of(kFirst + 5, 5000).within(0, 5000), 0);
}

}  // namespace
}  // namespace npu::model::hbm
