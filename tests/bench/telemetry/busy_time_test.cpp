// SPDX-License-Identifier: Apache-2.0
#include "model/core/busy_time.hpp"

#include <gtest/gtest.h>

#include "model/aicore/space_busy.hpp"

namespace npu::model {
namespace {

TEST(BusyTime, CountsWhatIsInFlight) {
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

TEST(SpaceBusy, ASpaceIsBusyWhileItHasACore) {
  SpaceBusy spaces(4, 3);
  spaces.begin(0, 1, 100);
  spaces.begin(1, 1, 110);
  spaces.begin(2, 2, 120);
  spaces.begin(2, 3, 125);  // the core is taken
  spaces.end(0, 130);
  EXPECT_EQ(spaces.until(1, 140), 40U);
  spaces.end(1, 150);
  spaces.end(1, 160);
  EXPECT_EQ(spaces.until(1, 200), 50U);
  EXPECT_EQ(spaces.until(2, 200), 80U);
  EXPECT_EQ(spaces.until(3, 200), 0U);
}

}  // namespace
}  // namespace npu::model
