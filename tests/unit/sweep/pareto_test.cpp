// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/pareto.hpp"

#include <gmock/gmock.h>

#include <random>

namespace npu::sweep {
namespace {

using testing::ElementsAre;

TEST(Pareto, OfOneObjectiveTheBestAreOnTheFront) {
  EXPECT_THAT(pareto_front({{"3"}, {"1.0"}, {"2"}, {"1"}}, {Goal::kMinimum}),
              ElementsAre(false, true, false, true));
  EXPECT_THAT(pareto_front({{"3"}, {"1"}, {"3.000"}}, {Goal::kMaximum}),
              ElementsAre(true, false, true));
}

TEST(Pareto, ATradeOffIsOnTheFrontAndWhatIsWorseInBothIsNot) {
  // Latency down, bandwidth up.
  const std::vector<Alternative> points{
      {"1", "10"}, {"2", "20"}, {"2", "15"}, {"3", "20"}, {"3", "30"}};
  EXPECT_THAT(pareto_front(points, {Goal::kMinimum, Goal::kMaximum}),
              ElementsAre(true, true, false, false, true));
}

TEST(Pareto, WhatLacksAValueIsComparedWithNone) {
  const std::vector<Alternative> points{{std::nullopt, "0"}, {"5", "5"}};
  EXPECT_THAT(pareto_front(points, {Goal::kMinimum, Goal::kMinimum}),
              ElementsAre(std::nullopt, true));
}

TEST(Pareto, OfNothingThereIsNoFront) {
  EXPECT_TRUE(pareto_front({}, {Goal::kMinimum}).empty());
}

bool as_good(const std::vector<int>& a, const std::vector<int>& b, const std::vector<Goal>& goals) {
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (goals[i] == Goal::kMinimum ? a[i] > b[i] : a[i] < b[i]) return false;
  }
  return true;
}

// By the definition, pair by pair.
std::vector<std::optional<bool>> brute_force(const std::vector<std::vector<int>>& points,
                                             const std::vector<Goal>& goals) {
  std::vector<std::optional<bool>> front;
  for (const auto& mine : points) {
    bool best = true;
    for (const auto& other : points) best = best && !(other != mine && as_good(other, mine, goals));
    front.emplace_back(best);
  }
  return front;
}

TEST(Pareto, AtRandomItIsWhatEveryPairSays) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Goal> goals(1 + random() % 4);
    for (auto& goal : goals) goal = random() % 2 == 0 ? Goal::kMinimum : Goal::kMaximum;
    std::vector<std::vector<int>> points(random() % 40, std::vector<int>(goals.size()));
    std::vector<Alternative> alternatives;
    for (auto& point : points) {
      alternatives.emplace_back();
      for (auto& value : point) {
        value = static_cast<int>(random() % 8) - 3;  // few values: many are equal
        alternatives.back().push_back(std::to_string(value) + (random() % 2 == 0 ? ".00" : ""));
      }
    }
    EXPECT_EQ(pareto_front(alternatives, goals), brute_force(points, goals)) << "round " << round;
  }
}

}  // namespace
}  // namespace npu::sweep
