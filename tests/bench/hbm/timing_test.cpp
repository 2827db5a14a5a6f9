// SPDX-License-Identifier: Apache-2.0
// ChannelTiming command by command, against the data sheet: what may follow when, counted by hand.
// An ACT of two clocks opens its row with the second one, from which JEDEC counts, and to which.
#include "model/hbm/channel_timing.hpp"

#include <gtest/gtest.h>

#include "model/hbm/address_map.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

struct Dram {
  explicit Dram(const HbmTimings& timings) : t(timings) {}
  int lane(unsigned pseudo_channel, unsigned group, unsigned bank) const {
    return lane_number(t, pseudo_channel, 0, group, bank);
  }
  void activate(int lane, Clock at) { timing.activate(banks.at(index(lane)), lane, at); }
  Clock activate_from(int lane) { return timing.activate_from(banks.at(index(lane)), lane); }
  Clock read_from(int lane) { return timing.column_from(banks.at(index(lane)), lane, false); }
  Clock write_from(int lane) { return timing.column_from(banks.at(index(lane)), lane, true); }
  BankClocks& bank(int lane) { return banks.at(index(lane)); }
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }

  HbmTimings t;
  ChannelTiming timing{t, ChannelLayout(t)};
  std::array<BankClocks, Candidates::kMaxLanes> banks{};
};

TEST(HbmChannelTiming, AnActOpensItsBankForColumnsAndHoldsItOpen) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2);
  dram.activate(lane, 100);
  EXPECT_EQ(dram.read_from(lane), 101 + 12);      // tRCD_RD
  EXPECT_EQ(dram.write_from(lane), 101 + 6);      // tRCD_WR
  EXPECT_EQ(dram.bank(lane).pre, 101 + 28);       // tRAS
  EXPECT_EQ(dram.activate_from(lane), 100 + 42);  // tRC
}

TEST(HbmChannelTiming, ActsKeepTheirDistanceInTheGroupAndThePseudoChannel) {
  Dram dram(test::dramsys_timings());
  dram.activate(dram.lane(0, 1, 2), 100);
  EXPECT_EQ(dram.activate_from(dram.lane(0, 1, 0)), 106);  // tRRD_L
  EXPECT_EQ(dram.activate_from(dram.lane(0, 2, 0)), 104);  // tRRD_S
  EXPECT_EQ(dram.activate_from(dram.lane(1, 1, 2)), 0);
}

TEST(HbmChannelTiming, TheFifthActWaitsForTheWindowOfFour) {
  HbmTimings t = test::dramsys_timings();
  t.tfaw = 30;
  Dram dram(t);
  for (unsigned group = 0; group < 3; ++group)
    dram.activate(dram.lane(0, group, 0), 100 + 6 * group);
  EXPECT_EQ(dram.activate_from(dram.lane(0, 3, 0)), 112 + 4);  // the fourth
  dram.activate(dram.lane(0, 3, 0), 118);
  EXPECT_EQ(dram.activate_from(dram.lane(0, 0, 1)), 100 + 30);
}

TEST(HbmChannelTiming, APreClosesItsBankForTrp) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2);
  dram.timing.precharge(dram.bank(lane), 200);
  EXPECT_EQ(dram.activate_from(lane), 200 + 14 - 1);
  EXPECT_EQ(dram.activate_from(dram.lane(0, 1, 3)), 0);
  EXPECT_EQ(dram.timing.refresh_from(dram.bank(lane), lane), 214);
  EXPECT_EQ(dram.timing.refresh_bank_from(dram.bank(lane), lane), 214);
}

TEST(HbmChannelTiming, ARdHoldsBackItsGroupAndThePreOfItsBank) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2), neighbour = dram.lane(0, 1, 3);
  dram.timing.read(dram.bank(lane), lane, 100);
  EXPECT_EQ(dram.read_from(neighbour), 103);  // tCCD_L
  EXPECT_EQ(dram.write_from(neighbour), 0);   // tRTW is the column bus'
  EXPECT_EQ(dram.read_from(dram.lane(0, 2, 2)), 0);
  EXPECT_EQ(dram.bank(lane).pre, 105);  // tRTP
  EXPECT_EQ(dram.bank(neighbour).pre, 0);
}

TEST(HbmChannelTiming, AWrHoldsThemBackUntilItsDataIsWritten) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2), neighbour = dram.lane(0, 1, 3);
  dram.timing.write(dram.bank(lane), lane, 100);
  EXPECT_EQ(dram.write_from(neighbour), 103);             // tCCD_L
  EXPECT_EQ(dram.read_from(neighbour), 100 + 7 + 2 + 9);  // CWL, data, tWTR_L
  EXPECT_EQ(dram.bank(lane).pre, 100 + 7 + 2 + 14);       // CWL, data, tWR
}

TEST(HbmChannelTiming, ALimitThatIsLongerAlreadyStays) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2);
  dram.timing.write(dram.bank(lane), lane, 100);
  dram.timing.read(dram.bank(lane), lane, 110);
  EXPECT_EQ(dram.bank(lane).pre, 123);
}

TEST(HbmChannelTiming, ARefreshOfABankHoldsBackOthersForTrrefd) {
  Dram dram(test::with_bank_refresh(test::dramsys_timings()));
  const int lane = dram.lane(0, 1, 2), other = dram.lane(0, 2, 0);
  dram.timing.refresh_bank(dram.bank(lane), lane, 100);
  EXPECT_EQ(dram.activate_from(lane), 100 + 160 - 1);
  EXPECT_EQ(dram.activate_from(other), 100 + 8 - 1);
  EXPECT_EQ(dram.timing.refresh_bank_from(dram.bank(other), other), 108);
  EXPECT_EQ(dram.activate_from(dram.lane(1, 1, 2)), 0);
}

TEST(HbmChannelTiming, ARefreshOfABankKeepsTheDistancesOfAnAct) {
  Dram dram(test::with_bank_refresh(test::dramsys_timings()));
  dram.activate(dram.lane(0, 1, 2), 100);
  const int same_group = dram.lane(0, 1, 3), other_group = dram.lane(0, 2, 0);
  EXPECT_EQ(dram.timing.refresh_bank_from(dram.bank(same_group), same_group), 106);
  EXPECT_EQ(dram.timing.refresh_bank_from(dram.bank(other_group), other_group), 104);
}

TEST(HbmChannelTiming, ARefreshOfAllBanksTakesTrfc) {
  Dram dram(test::dramsys_timings());
  const int lane = dram.lane(0, 1, 2);
  dram.timing.refresh(dram.bank(lane), 100);
  EXPECT_EQ(dram.activate_from(lane), 100 + 220 - 1);
}

}  // namespace
}  // namespace npu::model::hbm
