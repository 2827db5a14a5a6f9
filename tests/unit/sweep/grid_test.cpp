// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/grid.hpp"

#include <gmock/gmock.h>

#include <set>

namespace npu::sweep {
namespace {

using testing::ElementsAre;

PlacedText plain(const std::string& text) {
  return {text, {}};
}

SweepSpec two_by_three() {
  SweepSpec spec;
  spec.configurations = {plain("910b")};
  spec.grid = {{plain("x"), {plain("1"), plain("2")}},
               {plain("y"), {plain("a"), plain("b"), plain("c")}}};
  spec.seeds = {plain("1")};
  return spec;
}

std::vector<std::string> labels(const SweepSpec& spec) {
  const Grid grid(spec);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < grid.size(); ++i) all.push_back(grid.label(grid.point(i)));
  return all;
}

TEST(Grid, TheLastKeyCountsFastest) {
  EXPECT_THAT(labels(two_by_three()),
              ElementsAre("x=1, y=a", "x=1, y=b", "x=1, y=c", "x=2, y=a", "x=2, y=b", "x=2, y=c"));
}

TEST(Grid, ConfigurationsAreOutermostAndSeedsInnermost) {
  SweepSpec spec = two_by_three();
  spec.grid.pop_back();
  spec.configurations.push_back(plain("910b2"));
  spec.seeds.push_back(plain("2"));
  EXPECT_THAT(labels(spec),
              ElementsAre("configuration=910b, x=1, seed=1", "configuration=910b, x=1, seed=2",
                          "configuration=910b, x=2, seed=1", "configuration=910b, x=2, seed=2",
                          "configuration=910b2, x=1, seed=1", "configuration=910b2, x=1, seed=2",
                          "configuration=910b2, x=2, seed=1", "configuration=910b2, x=2, seed=2"));
}

TEST(Grid, EntriesOfTheListMeetEveryPointOfTheGrid) {
  SweepSpec spec = two_by_three();
  spec.grid.pop_back();
  spec.list = {{{plain("p"), plain("7")}, {plain("q"), plain("8")}},
               {{plain("p"), plain("9")}, {plain("q"), plain("0")}}};
  EXPECT_THAT(labels(spec),
              ElementsAre("x=1, p=7, q=8", "x=1, p=9, q=0", "x=2, p=7, q=8", "x=2, p=9, q=0"));
}

TEST(Grid, WithoutAnythingVariedThereIsOnePoint) {
  SweepSpec spec = two_by_three();
  spec.grid.clear();
  EXPECT_THAT(labels(spec), ElementsAre("910b"));
}

TEST(Grid, EveryPointIsThereOnce) {
  SweepSpec spec = two_by_three();
  spec.configurations.push_back(plain("910b2"));
  for (int i = 2; i < 9; ++i) spec.seeds.push_back(plain(std::to_string(i)));
  spec.list = {{{plain("p"), plain("7")}}, {{plain("p"), plain("9")}}, {{plain("p"), plain("0")}}};
  const auto all = labels(spec);
  EXPECT_EQ(all.size(), 2U * 2 * 3 * 3 * 8);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

}  // namespace
}  // namespace npu::sweep
