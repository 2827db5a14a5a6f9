// SPDX-License-Identifier: Apache-2.0
#include "model/core/busy_time.hpp"

#include <gtest/gtest.h>

namespace npu::model {
namespace {

TEST(BusyTime, CountsWhatIsUnderWay) {
  BusyTime unit;
  EXPECT_EQ(unit.until(100), 0U);
  unit.begin(100);
  EXPECT_EQ(unit.until(130), 30U);
  unit.end(150);
  EXPECT_EQ(unit.until(400), 50U);
}

TEST(BusyTime, AddsUpAndTakesASecondBeginForTheFirst) {
  BusyTime unit;
  unit.begin(0);
  unit.begin(5);
  unit.end(10);
  unit.begin(20);
  unit.end(21);
  EXPECT_EQ(unit.until(21), 11U);
}

TEST(BusyTime, AnEndWithoutABeginIsNothing) {
  BusyTime unit;
  unit.end(10);
  EXPECT_EQ(unit.until(20), 0U);
}

}  // namespace
}  // namespace npu::model
