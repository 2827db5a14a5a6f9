// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/machine_activity.hpp"

#include <gtest/gtest.h>

#include "tools/timeline/cause.hpp"

namespace npu::cli {
namespace {

using platform::Activity;

class MachineActivityTest : public testing::Test {
 protected:
  void add(Activity activity, std::uint32_t track, std::int64_t begin, std::int64_t end,
           std::uint64_t bytes = 0, std::uint64_t detail = 0) {
    activity_.on_event({Instant(Picoseconds(begin)), Instant(Picoseconds(end)), 0, bytes, detail,
                        track, activity});
  }
  std::vector<MachineActivity::Unit> look(std::int64_t time) {
    return activity_.look(
        Picoseconds(time), [](std::uint32_t track) { return "u" + std::to_string(track); },
        [](const std::string& name) { return name == "u7" ? 1'000'000'000'000ULL : 0; });
  }
  MachineActivity activity_;
};

TEST_F(MachineActivityTest, AUnitIsBusyForItsShareOfTheTimeSinceTheLastLook) {
  add(Activity::kCommand, 1, 0, 25);
  add(Activity::kPipe, 2, 50, 100);
  const auto first = look(100);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].name, "u2");
  EXPECT_DOUBLE_EQ(first[0].now, 0.5);
  EXPECT_DOUBLE_EQ(first[1].now, 0.25);
  const auto second = look(200);
  EXPECT_DOUBLE_EQ(second[0].now, 0);
  EXPECT_DOUBLE_EQ(second[0].mean, 0.25);
}

TEST_F(MachineActivityTest, WhatBeganBeforeTheLastLookCountsFromThere) {
  add(Activity::kCommand, 1, 0, 10);
  look(100);
  add(Activity::kCommand, 1, 50, 150);
  EXPECT_DOUBLE_EQ(look(200).at(0).now, 0.5);
}

TEST_F(MachineActivityTest, ALinkIsBusyByItsBytesIfItHasARate) {
  add(Activity::kTlp, 7, 0, 90, 10, 40);  // a byte per ps at most
  EXPECT_DOUBLE_EQ(look(100).at(0).now, 0.4);
  add(Activity::kHbmRead, 7, 100, 110, 1000);
  EXPECT_DOUBLE_EQ(look(200).at(0).now, 1) << "never more than all of it";
}

TEST_F(MachineActivityTest, CountsQueuesSlotsAndWhatHasEnded) {
  const auto call = [](platform::DriverCall which) {
    return static_cast<std::uint64_t>(which) << 56;
  };
  add(Activity::kDriverCall, 1, 0, 1, 0, call(platform::DriverCall::kCreateQueue));
  add(Activity::kDriverCall, 1, 0, 1, 0, call(platform::DriverCall::kCreateQueue));
  add(Activity::kDriverCall, 1, 0, 1, 0, call(platform::DriverCall::kDestroyQueue));
  add(Activity::kQueueMap, 2, 0, 1);
  add(Activity::kQueueUnmap, 2, 0, 1);
  add(Activity::kQueueUnmap, 2, 0, 1);
  add(Activity::kFault, 3, 0, 0);
  add(Activity::kKernelBlock, 3, 0, 1);
  EXPECT_EQ(activity_.queues(), 1U);
  EXPECT_EQ(activity_.slots(), 0U);
  EXPECT_EQ(activity_.faults(), 1U);
  EXPECT_EQ(activity_.blocks(), 1U);
}

TEST_F(MachineActivityTest, WhatWasSubmittedWaitsUntilItHasEnded) {
  constexpr std::uint64_t kDma = 5;  // any cause that is not 0 and no queue's
  const std::uint64_t queue = *timeline::parse_cause("queue0.3:5");
  const auto submit = [this](std::uint64_t cause, std::uint64_t entries_before) {
    activity_.on_event(
        {Instant(), Instant(1_ps), cause, 0, entries_before << 32, 1, Activity::kDmaSubmit});
  };
  submit(kDma, 3);
  submit(kDma, 0);
  submit(queue, 0);
  add(Activity::kCommand, 2, 0, 10);
  EXPECT_EQ(activity_.commands().waiting(), 4U);
  EXPECT_EQ(activity_.commands().ended, 1U);
  EXPECT_EQ(activity_.entries().waiting(), 1U);
  add(Activity::kQueueCommand, 2, 0, 10);
  EXPECT_EQ(activity_.entries().waiting(), 0U);
}

TEST_F(MachineActivityTest, AtTheFirstInstantNothingIsBusy) {
  add(Activity::kCommand, 1, 0, 0);
  EXPECT_DOUBLE_EQ(look(0).at(0).now, 0);
}

}  // namespace
}  // namespace npu::cli
