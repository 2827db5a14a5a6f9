// SPDX-License-Identifier: Apache-2.0
#include "driver/event/latency_predictor.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

TEST(LatencyEstimate, TakesTheFirstSampleAsItIs) {
  LatencyEstimate estimate;
  EXPECT_FALSE(estimate.known);
  estimate.learn(80_us);
  EXPECT_TRUE(estimate.known);
  EXPECT_EQ(estimate.mean, 80_us);
  EXPECT_EQ(estimate.deviation, 10_us);
}

// RFC 6298: mean += error / 8, deviation += (|error| - deviation) / 4.
TEST(LatencyEstimate, MovesByAnEighthAndAQuarter) {
  LatencyEstimate estimate;
  estimate.learn(80_us);
  estimate.learn(96_us);
  EXPECT_EQ(estimate.mean, 82_us);
  EXPECT_EQ(estimate.deviation, Picoseconds(11'500'000));
  estimate.learn(74_us);
  EXPECT_EQ(estimate.mean, 81_us);
}

TEST(LatencyEstimate, ConvergesOnASteadyStream) {
  LatencyEstimate estimate;
  estimate.learn(5_us);
  for (int i = 0; i < 100; ++i) estimate.learn(50_us);
  EXPECT_NEAR(estimate.mean.us(), 50.0, 0.1);
  EXPECT_NEAR(estimate.deviation.us(), 0.0, 0.1);
}

TEST(LatencyPredictor, KeepsClassesOfSizesApart) {
  LatencyPredictor predictor;
  predictor.learn(12, 3_us);
  predictor.learn(30, 50_ms);
  EXPECT_EQ(predictor.estimate(12).mean, 3_us);
  EXPECT_EQ(predictor.estimate(30).mean, 50_ms);
  EXPECT_FALSE(predictor.estimate(20).known);
  predictor.learn(63, 1_s);  // beyond the last class
  EXPECT_EQ(predictor.estimate(LatencyPredictor::kClasses - 1).mean, 1_s);
  predictor.forget();
  EXPECT_FALSE(predictor.estimate(12).known);
}

}  // namespace
}  // namespace npu::driver
