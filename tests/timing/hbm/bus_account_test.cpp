// SPDX-License-Identifier: Apache-2.0
// BusAccount on single gaps, whose parts are counted by hand.
#include "model/hbm/bus_account.hpp"

#include <gtest/gtest.h>

namespace npu::model::hbm {
namespace {

// Something waits from clock 100 on, nothing before.
BusAccount waiting_from_100() {
  BusAccount account;
  account.queued(100);
  return account;
}

TEST(HbmBusAccount, WaitsOnBothSidesOfARefreshGoToTheirOwnCauses) {
  auto account = waiting_from_100();
  RefreshWindows refreshes;
  refreshes.fall_due(130);
  refreshes.finish(160);
  // The bus turns until 110, the row is ready at 190, the burst is served at 200.
  account.before_burst(200, 110, 190, refreshes);
  EXPECT_EQ(account.clocks().idle, 100);
  EXPECT_EQ(account.clocks().turnaround, 10);
  EXPECT_EQ(account.clocks().refresh, 30);
  EXPECT_EQ(account.clocks().row, 20 + 30);
  EXPECT_EQ(account.clocks().column, 10);
}

TEST(HbmBusAccount, AGapSeesTheEndOfOneRefreshAndTheBeginOfTheNext) {
  auto account = waiting_from_100();
  RefreshWindows refreshes;
  refreshes.fall_due(50);
  refreshes.finish(120);
  refreshes.fall_due(170);
  account.before_burst(200, 0, 200, refreshes);
  EXPECT_EQ(account.clocks().refresh, 20 + 30);
  EXPECT_EQ(account.clocks().row, 50);
}

TEST(HbmBusAccount, ARefreshThatWasLateGoesOnWithTheOneBefore) {
  auto account = waiting_from_100();
  RefreshWindows refreshes;
  refreshes.fall_due(110);
  refreshes.finish(150);
  refreshes.fall_due(140);
  refreshes.finish(180);
  account.before_burst(200, 0, 200, refreshes);
  EXPECT_EQ(account.clocks().refresh, 70);
  EXPECT_EQ(account.clocks().row, 30);
}

TEST(HbmBusAccount, AWaitThatGoesOnIsRefreshOrRow) {
  auto account = waiting_from_100();
  RefreshWindows refreshes;
  refreshes.fall_due(150);
  account.settle(200, refreshes);
  EXPECT_EQ(account.clocks().idle, 100);
  EXPECT_EQ(account.clocks().refresh, 50);
  EXPECT_EQ(account.clocks().row, 50);
}

}  // namespace
}  // namespace npu::model::hbm
