// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/measured_span.hpp"

#include <gtest/gtest.h>

namespace npu::timeline {
namespace {

using platform::Activity;

Instant at(std::int64_t ns) {
  return Instant(Picoseconds(1000 * ns));
}

class Measured : public testing::Test {
 protected:
  void add(Activity activity, std::int64_t begin, std::int64_t end) {
    span_.on_event({at(begin), at(end), 0, 0, 0, 1, activity});
  }
  void expect(std::int64_t begin, std::int64_t end) const {
    const auto found = span_.of(at(1000));
    EXPECT_EQ(found.begin, at(begin));
    EXPECT_EQ(found.end, at(end));
  }
  MeasuredSpan span_;
};

TEST_F(Measured, IsFromTheFirstMeasurementToTheLast) {
  add(Activity::kDmaSubmit, 50, 60);
  add(Activity::kMeasurement, 200, 300);
  add(Activity::kMeasurement, 250, 400);
  add(Activity::kEventWait, 500, 900);
  expect(200, 400);
}

TEST_F(Measured, OfAProgramWithoutAnyIsFromItsFirstSubmissionToItsLastWait) {
  add(Activity::kDriverCall, 10, 40);
  add(Activity::kDmaSubmit, 50, 60);
  add(Activity::kDmaSubmit, 70, 80);
  add(Activity::kKernelBlock, 90, 300);
  add(Activity::kEventWait, 85, 320);
  expect(50, 320);
}

TEST_F(Measured, IsAllOfARunInWhichNothingWasSubmitted) {
  add(Activity::kDriverCall, 10, 40);
  expect(0, 1000);
}

TEST_F(Measured, IsNoLongerThanTheRun) {
  add(Activity::kMeasurement, 200, 1300);
  expect(200, 1000);
}

}  // namespace
}  // namespace npu::timeline
