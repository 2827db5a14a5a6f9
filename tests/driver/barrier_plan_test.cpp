// SPDX-License-Identifier: Apache-2.0
// Who meets whom in a barrier: nobody is through who has not heard of all.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>

#include "driver/collectives/operation_plan.hpp"

namespace npu::driver {
namespace {

using Known = std::vector<std::bitset<kMaxRanks>>;  // by rank: of whom it has heard

std::vector<Plan> plans_of(unsigned ranks, CollectiveAlgorithm algorithm) {
  PlanRequest request;
  request.operation = CollectiveOperation::kBarrier;
  request.algorithm = algorithm;
  std::vector<Plan> plans;
  for (unsigned i = 0; i < ranks; ++i) plans.push_back(make_plan(request, {i, ranks}, 0, 0));
  return plans;
}

Known after(const std::vector<Plan>& plans) {
  Known known(plans.size());
  for (unsigned i = 0; i < plans.size(); ++i) known[i].set(i);
  for (std::size_t step = 0; step < plans.front().size(); ++step) {
    const Known before = known;
    for (unsigned i = 0; i < plans.size(); ++i) {
      for (const auto peer : plans[i][step].readers) {
        EXPECT_NE(peer, i);
        known[i] |= before[peer];
      }
    }
  }
  return known;
}

void expect_all_meet(CollectiveAlgorithm algorithm, unsigned most) {
  for (unsigned ranks = 1; ranks <= most; ++ranks) {
    const auto plans = plans_of(ranks, algorithm);
    for (const auto& plan : plans) ASSERT_EQ(plan.size(), plans.front().size());
    for (const auto& known : after(plans)) ASSERT_EQ(known.count(), ranks) << ranks << " ranks";
  }
}

TEST(BarrierPlan, OfARingTellsOfEveryRank) {
  expect_all_meet(CollectiveAlgorithm::kRing, 40);
}

TEST(BarrierPlan, OfAMeshTellsOfEveryRank) {
  expect_all_meet(CollectiveAlgorithm::kMesh, 40);
}

TEST(BarrierPlan, OfNhrTellsOfEveryRankInItsSteps) {
  expect_all_meet(CollectiveAlgorithm::kNhr, kMaxRanks);
  EXPECT_EQ(plans_of(2, CollectiveAlgorithm::kNhr).front().size(), 1U);
  EXPECT_EQ(plans_of(8, CollectiveAlgorithm::kNhr).front().size(), 3U);
  EXPECT_EQ(plans_of(kMaxRanks, CollectiveAlgorithm::kNhr).front().size(), 8U);
}

// A rank waits for a record of everybody it tells.
TEST(BarrierPlan, PartnersMeetEachOtherInTheSameStep) {
  for (const auto algorithm : {CollectiveAlgorithm::kNhr, CollectiveAlgorithm::kRing}) {
    const auto plans = plans_of(37, algorithm);
    for (unsigned i = 0; i < plans.size(); ++i) {
      for (std::size_t step = 0; step < plans[i].size(); ++step) {
        for (const auto peer : plans[i][step].readers) {
          const auto& theirs = plans[peer][step].readers;
          EXPECT_EQ(std::count(theirs.begin(), theirs.end(), i), 1) << i << " and " << peer;
        }
      }
    }
  }
}

}  // namespace
}  // namespace npu::driver
