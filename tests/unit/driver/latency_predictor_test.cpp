// SPDX-License-Identifier: Apache-2.0
#include "driver/event/latency_predictor.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace npu::driver {
namespace {

LatencyEstimate after(std::initializer_list<Picoseconds> samples) {
  LatencyWindow window;
  for (const auto sample : samples) window.learn(sample, false);
  return window.estimate();
}

TEST(LatencyWindow, KnowsNothingAtFirst) {
  EXPECT_FALSE(after({}).known);
}

TEST(LatencyWindow, TakesTheFirstSampleAsItIs) {
  const auto estimate = after({80_us});
  EXPECT_TRUE(estimate.known);
  EXPECT_EQ(estimate.mean, 80_us);
  EXPECT_EQ(estimate.early, 70_us);  // an eighth sooner
}

// (40 + 50 + 60 + 70 + 80) / 5
TEST(LatencyWindow, LeavesTheShortestAndTheLongestOut) {
  const auto estimate = after({1_us, 80_us, 40_us, 9000_us, 60_us, 50_us, 70_us});
  EXPECT_EQ(estimate.mean, 60_us);
  EXPECT_EQ(estimate.early, 40_us);
}

TEST(LatencyWindow, ForgetsWhatIsOlderThanTheWindow) {
  LatencyWindow window;
  for (int i = 0; i < 100; ++i) window.learn(5_us, false);
  for (unsigned i = 0; i + 1 < LatencyWindow::kSamples; ++i) window.learn(50_us, false);
  EXPECT_EQ(window.estimate().mean, 50_us);  // the last 5 us is the one left out
  window.learn(50_us, false);
  EXPECT_EQ(window.estimate().early, 50_us);
}

// Some queue for the link behind others and some do not.
TEST(LatencyWindow, LiesBetweenTwoModes) {
  const auto estimate = after({33_us, 57_us, 33_us, 57_us, 33_us, 57_us, 33_us});
  EXPECT_EQ(estimate.mean, Picoseconds((3 * 33'000'000 + 2 * 57'000'000) / 5));
  EXPECT_EQ(estimate.early, 33_us);
}

TEST(LatencyWindow, RemembersWhetherTheLastWaitWasLong) {
  LatencyWindow window;
  window.learn(50_us, true);
  EXPECT_TRUE(window.estimate().was_long);
  window.learn(50_us, false);
  EXPECT_FALSE(window.estimate().was_long);
}

TEST(LatencyPredictor, KeepsClassesOfSizesApart) {
  LatencyPredictor predictor;
  predictor.learn(12, 3_us, false);
  predictor.learn(30, 50_ms, true);
  EXPECT_EQ(predictor.estimate(12).mean, 3_us);
  EXPECT_EQ(predictor.estimate(30).mean, 50_ms);
  EXPECT_FALSE(predictor.estimate(20).known);
  predictor.learn(63, 1_s, true);  // beyond the last class
  EXPECT_EQ(predictor.estimate(LatencyPredictor::kClasses - 1).mean, 1_s);
  predictor.forget();
  EXPECT_FALSE(predictor.estimate(12).known);
}

}  // namespace
}  // namespace npu::driver
