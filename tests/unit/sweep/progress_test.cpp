// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/cli/sweep/sweep_progress.hpp"

namespace npu::sweep {
namespace {

using std::chrono::seconds;

TEST(SweepProgress, SaysWhatIsDoneWhatRunsAndWhatIsLeft) {
  EXPECT_EQ(progress_text({64, 0, 0, 0, 2}, seconds(3)), "0 of 64 done, 2 running");
  EXPECT_EQ(progress_text({64, 0, 15, 1, 2}, seconds(10)),
            "15 of 64 done, 2 running, 1 failed, 30 s left");
  EXPECT_EQ(progress_text({64, 0, 64, 0, 0}, seconds(10)), "64 of 64 done");
}

TEST(SweepProgress, WhatWasDoneBeforeTellsNothingOfTheTimeLeft) {
  EXPECT_EQ(progress_text({64, 44, 10, 0, 2}, seconds(60)), "54 of 64 done, 2 running, 60 s left");
}

TEST(SweepProgress, LongTimesAreMinutesAndHours) {
  EXPECT_EQ(progress_text({4, 0, 1, 0, 1}, seconds(600)), "1 of 4 done, 1 running, 30 min left");
  EXPECT_EQ(progress_text({4, 0, 1, 0, 1}, seconds(6000)),
            "1 of 4 done, 1 running, 5 h 0 min left");
}

}  // namespace
}  // namespace npu::sweep
