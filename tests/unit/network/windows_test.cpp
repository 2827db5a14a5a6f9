// SPDX-License-Identifier: Apache-2.0
// Sides of results and places of windows, against the formulas of the standard and a convolution
// written out.
#include "workloads/network/windows.hpp"

#include <gtest/gtest.h>

#include <random>

namespace npu::network {
namespace {

using Integers = std::vector<std::int64_t>;

Node node_with(std::map<std::string, Attribute> attributes) {
  Node node;
  node.attributes = std::move(attributes);
  return node;
}

TEST(Windows, SidesFollowFromStridesDilationsAndPads) {
  Window window;
  const auto node = node_with(
      {{"strides", Integers{2, 1}}, {"dilations", Integers{1, 2}}, {"pads", Integers{1, 0, 1, 2}}});
  ASSERT_TRUE(window_of(node, {3, 3}, {7, 9}, window));
  EXPECT_EQ(window.result, (Integers{4, 7}));
}

TEST(Windows, SameHasTheOddPaddingBehindOrBefore) {
  for (const auto* const where : {"SAME_UPPER", "SAME_LOWER"}) {
    Window window;
    const auto node = node_with({{"auto_pad", std::string(where)}, {"strides", Integers{2}}});
    ASSERT_TRUE(window_of(node, {2}, {5}, window));
    EXPECT_EQ(window.result, (Integers{3}));
    const bool upper = std::string(where) == "SAME_UPPER";
    EXPECT_EQ(window.before[0], upper ? 0 : 1);
    EXPECT_EQ(window.behind[0], upper ? 1 : 0);
  }
}

TEST(Windows, ACeilingDropsAWindowThatBeginsBehindTheSource) {
  Window window;
  auto node = node_with({{"ceil_mode", std::int64_t{1}}, {"strides", Integers{2}}});
  ASSERT_TRUE(window_of(node, {3}, {4}, window));
  EXPECT_EQ(window.result, (Integers{2}));
  node.attributes["strides"] = Integers{5};
  ASSERT_TRUE(window_of(node, {1}, {6}, window));
  EXPECT_EQ(window.result, (Integers{2}));
}

TEST(Windows, AttributesThatDoNotFitAreRefused) {
  Window window;
  EXPECT_FALSE(window_of(node_with({{"strides", Integers{0}}}), {1}, {4}, window));
  EXPECT_FALSE(window_of(node_with({{"pads", Integers{-1, 0}}}), {1}, {4}, window));
  EXPECT_FALSE(window_of(node_with({{"strides", Integers{1, 1}}}), {1}, {4}, window));
  EXPECT_FALSE(window_of(node_with({}), {5}, {4}, window));
  EXPECT_FALSE(window_of(node_with({}), {}, {4}, window));
}

// y[i * stride + k * dilation - before] += x[i] * w[k], against the places from which each y comes.
TEST(Windows, ATransposedOneGathersWhatTheOtherScatters) {
  std::mt19937 random{5};
  for (int round = 0; round < 300; ++round) {
    const auto below = [&random](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    };
    const std::int64_t source = 1 + below(6), kernel = 1 + below(4), stride = 1 + below(3),
                       dilation = 1 + below(3), before = below(2), behind = below(2);
    Window window;
    const auto node = node_with({{"strides", Integers{stride}},
                                 {"dilations", Integers{dilation}},
                                 {"pads", Integers{before, behind}}});
    if (!transposed_window_of(node, {kernel}, {source}, window)) continue;
    const auto side = static_cast<std::size_t>(window.result[0]);
    std::vector<std::int64_t> scattered(side), gathered(side);
    for (std::int64_t i = 0; i < source; ++i) {
      for (std::int64_t k = 0; k < kernel; ++k) {
        const std::int64_t at = i * stride + k * dilation - before;
        if (at < 0 || at >= window.result[0]) continue;
        scattered[static_cast<std::size_t>(at)] += (i + 1) * 100 + k;
      }
    }
    const auto sources = transposed_sources_of(window, {source});
    for (std::size_t at = 0; at < side; ++at) {
      for (std::int64_t k = 0; k < kernel; ++k) {
        const auto from =
            sources[at * static_cast<std::size_t>(kernel) + static_cast<std::size_t>(k)];
        if (from >= 0) gathered[at] += (from + 1) * 100 + k;
      }
    }
    EXPECT_EQ(gathered, scattered);
  }
}

TEST(Windows, PlacesOfTwoAxesCountRowByRow) {
  Window window;
  ASSERT_TRUE(window_of(node_with({{"pads", Integers{1, 0, 0, 0}}}), {2, 1}, {2, 2}, window));
  EXPECT_EQ(window.result, (Integers{2, 2}));
  EXPECT_EQ(sources_of(window, {2, 2}), (Integers{-1, 0, -1, 1, 0, 2, 1, 3}));
}

}  // namespace
}  // namespace npu::network
