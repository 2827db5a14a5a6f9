// SPDX-License-Identifier: Apache-2.0
// Axes made longer and shorter: weights by the formulas of the standard.
#include "workloads/network/resampling.hpp"

#include <gmock/gmock.h>

namespace npu::network {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

ResampledAxis axis_of(std::uint64_t from, std::uint64_t to) {
  ResampledAxis axis;
  axis.from = from;
  axis.to = to;
  axis.scale = static_cast<double>(to) / static_cast<double>(from);
  return axis;
}

TEST(Resampling, NearestOnesRoundAsTheyAreTold) {
  Resampling how;
  how.place = "asymmetric";
  how.nearest = "floor";
  EXPECT_THAT(*nearest_of(how, axis_of(2, 4)), ElementsAre(0, 0, 1, 1));
  how.nearest = "ceil";
  EXPECT_THAT(*nearest_of(how, axis_of(2, 4)), ElementsAre(0, 1, 1, 1));
  how.nearest = "round_prefer_floor";
  EXPECT_THAT(*nearest_of(how, axis_of(2, 4)), ElementsAre(0, 0, 1, 1));
  how.nearest = "round_prefer_ceil";
  EXPECT_THAT(*nearest_of(how, axis_of(2, 4)), ElementsAre(0, 1, 1, 1));
}

TEST(Resampling, LinearOnesLieBetweenTheirNeighbours) {
  Resampling how;
  how.mode = "linear";
  how.place = "align_corners";
  const auto made = resample(how, axis_of(2, 3));
  ASSERT_TRUE(made);
  EXPECT_THAT(made->weights, ElementsAre(1, 0, 0.5F, 0.5F, 0, 1));
}

// Weights of every mode add up to 1.
TEST(Resampling, WeightsAddUpToOne) {
  for (const auto* const mode : {"linear", "cubic"}) {
    for (const auto* const place : {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                    "align_corners", "half_pixel_symmetric"}) {
      for (const bool exclude : {false, true}) {
        Resampling how;
        how.mode = mode;
        how.place = place;
        how.exclude_outside = exclude;
        for (const auto& axis : {axis_of(5, 9), axis_of(9, 4), axis_of(1, 3), axis_of(3, 1)}) {
          const auto made = resample(how, axis);
          ASSERT_TRUE(made) << mode << " " << place;
          for (std::uint64_t i = 0; i < axis.to; ++i) {
            float sum = 0;
            for (std::uint64_t j = 0; j < axis.from; ++j) sum += made->weights[i * axis.from + j];
            EXPECT_THAT(sum, FloatNear(1, 1e-5F)) << mode << " " << place;
          }
        }
      }
    }
  }
}

TEST(Resampling, WhatIsCroppedKnowsWhatLiesOutside) {
  Resampling how;
  how.mode = "linear";
  how.place = "tf_crop_and_resize";
  auto axis = axis_of(4, 3);
  axis.begin = 0.5;
  axis.end = 1.5;
  EXPECT_THAT(resample(how, axis)->inside, ElementsAre(true, true, false));
}

TEST(Resampling, OtherModesAreRefused) {
  Resampling how;
  how.nearest = "furthest";
  EXPECT_EQ(nearest_of(how, axis_of(2, 4)).error().code, ErrorCode::kUnsupported);
  how.mode = "quartic";
  EXPECT_EQ(resample(how, axis_of(2, 4)).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace npu::network
