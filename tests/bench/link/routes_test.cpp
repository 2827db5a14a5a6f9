// SPDX-License-Identifier: Apache-2.0
// Ways through graphs that are written down as such.
#include "model/link/fabric_routes.hpp"

#include <gtest/gtest.h>

namespace npu::model {
namespace {

FabricPlan graph(unsigned cards, unsigned switches,
                 const std::vector<std::pair<unsigned, unsigned>>& links) {
  FabricPlan plan;
  plan.nodes.resize(cards + switches);
  for (unsigned i = cards; i < plan.nodes.size(); ++i) {
    plan.nodes[i].kind = FabricNodeKind::kSwitch;
  }
  for (const auto& [low, high] : links) plan.links.push_back({"", low, high, {}, {}});
  return plan;
}

// Cards 0 and 1 at the ends of so many switches in a row.
FabricPlan row(unsigned switches) {
  std::vector<std::pair<unsigned, unsigned>> links{{0, 2}};
  for (unsigned i = 1; i < switches; ++i) links.emplace_back(1 + i, 2 + i);
  links.emplace_back(1, 1 + switches);
  return graph(2, switches, links);
}

TEST(FabricRoutes, CardsPassNothingOn) {
  const auto plan = graph(3, 0, {{0, 1}, {1, 2}});
  const FabricRoutes routes(plan, FabricRouting::kTable, 3);
  EXPECT_TRUE(routes.reaches(0, 1));
  EXPECT_FALSE(routes.reaches(0, 2));
  EXPECT_TRUE(routes.way(0, 2, 0).empty());
}

TEST(FabricRoutes, AWayHasAtMost31Links) {
  const auto longest = row(30), longer = row(31);
  EXPECT_EQ(FabricRoutes(longest, FabricRouting::kTable, 2).way(0, 1, 0).size(), 31U);
  EXPECT_FALSE(FabricRoutes(longer, FabricRouting::kTable, 2).reaches(0, 1));
}

TEST(FabricRoutes, TheShortestIsTakenAndItsLinksSay) {
  // Card 0, switches 2 and 3, card 1, and a link past them.
  const auto plan = graph(2, 3, {{0, 2}, {2, 3}, {1, 3}, {2, 4}, {3, 4}});
  FabricRoutes routes(plan, FabricRouting::kEcmp, 2);
  const auto way = routes.way(1, 0, 5);
  ASSERT_EQ(way.size(), 3U);
  EXPECT_EQ(way[0].link, 2U);
  EXPECT_EQ(way[0].side, 0U);
  EXPECT_EQ(way[1].link, 1U);
  EXPECT_EQ(way[1].side, 1U) << "from the higher node";
  routes.set_up(1, false);
  EXPECT_EQ(routes.way(1, 0, 5).size(), 4U);
  routes.set_up(3, false);
  EXPECT_FALSE(routes.reaches(1, 0));
}

TEST(FabricRoutes, ATableHasOneEntryForADestination) {
  // Card 0 at switch 3, three switches above it, cards 1 and 2 at switch 7 beyond.
  const auto plan =
      graph(3, 5, {{0, 3}, {3, 4}, {3, 5}, {3, 6}, {4, 7}, {5, 7}, {6, 7}, {1, 7}, {2, 7}});
  const FabricRoutes routes(plan, FabricRouting::kTable, 3);
  const auto second = [&](unsigned to, unsigned flow) { return routes.way(0, to, flow)[1].link; };
  EXPECT_EQ(second(1, 0), second(1, 9)) << "whatever the flow";
  EXPECT_NE(second(1, 0), second(2, 0)) << "destinations are spread";
}

}  // namespace
}  // namespace npu::model
