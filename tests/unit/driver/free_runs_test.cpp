// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/free_runs.hpp"

#include <gtest/gtest.h>

namespace npu::driver {
namespace {

void set(FreeRuns& runs, FreeRuns::Page page, unsigned order, bool is_free) {
  runs.set(page, order, is_free);
  runs.update_above(page, order);
}

TEST(FreeRuns, NothingIsFreeAtFirst) {
  const FreeRuns runs(16);
  EXPECT_EQ(runs.longest(), 0U);
  EXPECT_EQ(runs.find(1), FreeRuns::kNone);
}

TEST(FreeRuns, ARunGoesAcrossTheBordersOfBlocks) {
  FreeRuns runs(16);
  set(runs, 6, 1, true);
  set(runs, 8, 2, true);
  set(runs, 12, 0, true);
  EXPECT_EQ(runs.longest(), 7U);
  EXPECT_EQ(runs.find(7), 6U);
  EXPECT_EQ(runs.find(8), FreeRuns::kNone);
}

TEST(FreeRuns, TheLowestRunThatIsLongEnoughIsTaken) {
  FreeRuns runs(16);
  set(runs, 0, 0, true);
  set(runs, 4, 1, true);
  set(runs, 8, 3, true);
  EXPECT_EQ(runs.find(1), 0U);
  EXPECT_EQ(runs.find(2), 4U);
  EXPECT_EQ(runs.find(3), 8U);
}

TEST(FreeRuns, ABlockThatIsTakenEndsARun) {
  FreeRuns runs(16);
  set(runs, 0, 4, true);
  set(runs, 0, 4, false);
  for (const FreeRuns::Page page : {0U, 12U}) set(runs, page, 2, true);
  for (const FreeRuns::Page page : {4U, 8U}) set(runs, page, 2, false);
  EXPECT_EQ(runs.longest(), 4U);
}

}  // namespace
}  // namespace npu::driver
