// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/durations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npu::timeline {
namespace {

using platform::Activity;

void took(Durations& durations, Activity activity, std::int64_t time) {
  platform::TraceEvent event;
  event.begin = Instant(Picoseconds(1'000));
  event.end = event.begin + Picoseconds(time);
  event.activity = activity;
  durations.on_event(event);
}

// The smallest that at least so many percent do not exceed.
std::int64_t exact(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

void expect_near_above(Picoseconds found, std::int64_t wanted) {
  EXPECT_GE(found.count(), wanted);
  EXPECT_LE(found.count(), wanted + wanted / 128);
}

TEST(Durations, HavePercentilesWithinAStepOfTheExactOnes) {
  std::mt19937_64 random(3);
  for (const int size : {1, 2, 3, 99, 100, 101, 4000}) {
    Durations durations;
    std::vector<std::int64_t> times;
    for (int i = 0; i < size; ++i) {
      times.push_back(static_cast<std::int64_t>((random() >> 1) >> random() % 63));
      took(durations, Activity::kTlp, times.back());
    }
    std::sort(times.begin(), times.end());
    if (times.back() == 0) continue;
    const auto all = durations.all();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].count, times.size());
    EXPECT_EQ(all[0].least.count(), times.front());
    EXPECT_EQ(all[0].most.count(), times.back());
    expect_near_above(all[0].p50, exact(times, 50));
    expect_near_above(all[0].p90, exact(times, 90));
    expect_near_above(all[0].p99, exact(times, 99));
  }
}

TEST(Durations, AddUpByActivity) {
  Durations durations;
  took(durations, Activity::kPoll, 30);
  took(durations, Activity::kTlp, 5);
  took(durations, Activity::kPoll, 12);
  const auto all = durations.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].activity, Activity::kPoll);
  EXPECT_EQ(all[0].total.count(), 42);
  EXPECT_EQ(all[1].total.count(), 5);
}

TEST(Durations, LeaveOutWhatTookNoTimeAndMeasurements) {
  Durations durations;
  took(durations, Activity::kInterrupt, 0);
  took(durations, Activity::kMeasurement, 7);
  EXPECT_TRUE(durations.all().empty());
}

}  // namespace
}  // namespace npu::timeline
