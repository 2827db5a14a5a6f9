// SPDX-License-Identifier: Apache-2.0
// The commands of a burst alone in its channel, counted by hand.
#include "model/hbm/lone_burst.hpp"

#include <gtest/gtest.h>

#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

constexpr int kLane = 5;
constexpr std::uint32_t kRow = 7;

class HbmLoneBurst : public testing::Test {
 protected:
  // The row of the bank was opened by an ACT at `at`.
  void open(std::uint32_t row, Clock at) {
    timing_.activate(bank_.clocks, kLane, at);
    bank_.open = true;
    bank_.row = row;
  }
  LoneBurst plan(bool write, Clock row_bus, Clock column_bus) const {
    return {{kRow, 0, kLane, write}, row_bus - 1, bank_, timing_, {row_bus, column_bus}};
  }

  HbmTimings t_ = test::ramulator_timings();  // an ACT takes two clocks
  ChannelTiming timing_{t_, ChannelLayout(t_)};
  Bank bank_{};
};

TEST_F(HbmLoneBurst, OpensAClosedBank) {
  const auto read = plan(false, 100, 100);
  EXPECT_EQ(read.precharge(), kNever);
  EXPECT_EQ(read.activate(), 100);
  EXPECT_EQ(read.column(), 101 + 14);  // tRCD_RD
  EXPECT_EQ(plan(true, 100, 100).column(), 101 + 12);
}

TEST_F(HbmLoneBurst, WaitsForEitherBus) {
  const auto read = plan(false, 130, 100);
  EXPECT_EQ(read.activate(), 130);
  EXPECT_EQ(read.column(), 145);
  EXPECT_EQ(plan(false, 100, 120).column(), 120);
}

TEST_F(HbmLoneBurst, FindsItsRowOpen) {
  open(kRow, 0);
  const auto read = plan(false, 100, 103);
  EXPECT_EQ(read.precharge(), kNever);
  EXPECT_EQ(read.activate(), kNever);
  EXPECT_EQ(read.column(), 103);
}

TEST_F(HbmLoneBurst, ClosesAnotherRowFirst) {
  open(kRow + 1, 0);
  const auto read = plan(false, 100, 100);
  EXPECT_EQ(read.precharge(), 100);
  EXPECT_EQ(read.activate(), 100 + 14 - 1);  // tRP
  EXPECT_EQ(read.column(), 100 + 14 + 14);
}

TEST_F(HbmLoneBurst, ClosesItNoEarlierThanTrasAllows) {
  open(kRow + 1, 90);
  const auto read = plan(false, 100, 100);
  EXPECT_EQ(read.precharge(), 91 + 34);
  EXPECT_EQ(read.activate(), 91 + 34 + 14 - 1);  // tRC has passed before
  EXPECT_EQ(read.column(), 91 + 34 + 14 + 14);
}

TEST_F(HbmLoneBurst, KeepsTheDistanceOfActsInItsPseudoChannel) {
  t_.trrd_s = 30;
  timing_ = ChannelTiming(t_, ChannelLayout(t_));
  BankClocks other;
  timing_.activate(other, 0, 90);
  EXPECT_EQ(plan(false, 100, 100).activate(), 120);
}

TEST_F(HbmLoneBurst, IsOverWhenTaken) {
  auto read = plan(false, 100, 100);
  EXPECT_TRUE(read.waits());
  EXPECT_EQ(read.take().column(), 115);
  EXPECT_FALSE(read.waits());
  EXPECT_FALSE(LoneBurst().waits());
}

}  // namespace
}  // namespace npu::model::hbm
