// SPDX-License-Identifier: Apache-2.0
// The row hits on offer against a map by age; what holds back blocks of lanes against the latest.
#include "model/hbm/row_hits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "model/hbm/block_holds.hpp"

namespace npu::model::hbm {
namespace {

std::vector<int> lanes_of(const RowHits& hits) {
  std::vector<int> lanes;
  for (const auto& hit : hits) lanes.push_back(hit.lane);
  return lanes;
}

TEST(HbmRowHits, ComeTheOldestFirstWhateverChanges) {
  std::mt19937 random(5);
  for (const unsigned lanes : {2U, 16U, 128U}) {
    RowHits hits;
    std::map<int, int> by_age;
    const auto forget = [&](int lane) {
      for (auto it = by_age.begin(); it != by_age.end(); ++it) {
        if (it->second == lane) return void(by_age.erase(it));
      }
    };
    for (unsigned round = 0; round < 20'000; ++round) {
      const auto lane = static_cast<std::uint8_t>(random() % lanes);
      const auto age = static_cast<std::int16_t>(random() % 512);
      forget(lane);
      if (random() % 3 == 0 || by_age.count(age) != 0) {
        hits.withdraw(lane);
      } else {
        hits.offer({0, age, lane, 0, 0, false});
        by_age[age] = lane;
      }

      std::vector<int> expected;
      expected.reserve(by_age.size());
      for (const auto& [of, whose] : by_age) expected.push_back(whose);
      ASSERT_EQ(lanes_of(hits), expected);
    }
  }
}

TEST(HbmRowHits, AgesAreLoweredAndAllWithdrawn) {
  RowHits hits;
  hits.offer({0, 300, 7, 0, 0, false});
  hits.offer({0, 290, 9, 0, 0, true});

  hits.lower_ages(280);
  hits.offer({0, 15, 3, 0, 0, false});

  EXPECT_EQ(lanes_of(hits), (std::vector<int>{9, 3, 7}));
  hits.withdraw_all();
  EXPECT_TRUE(hits.empty());
}

TEST(HbmBlockHolds, WhatIsHeldStaysSoUntilTheLatestOfAllCommandsAllowsIt) {
  BlockHolds holds;

  holds.hold(0, 100, BlockHolds::Distances{4, 30});
  holds.hold(0, 110, BlockHolds::Distances{4, 15});
  holds.hold(0, 120, BlockHolds::Distances{4, -32'000});
  holds.rebase(90);

  EXPECT_EQ(holds.until(0, 0), 124);
  EXPECT_EQ(holds.until(0, 1), 130);
  EXPECT_LE(holds.until(1, 0), 90);
}

}  // namespace
}  // namespace npu::model::hbm
