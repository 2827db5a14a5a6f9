// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/milestones.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "npu/abi/registers.hpp"

namespace npu::workloads {
namespace {

using platform::Activity;
using testing::HasSubstr;

constexpr std::uint64_t kCause = platform::dma_cause(0, 7);
constexpr std::uint64_t kBar2 = std::uint64_t{2} << 56;

platform::TraceEvent event(Activity activity, std::int64_t begin, std::int64_t end,
                           std::uint64_t detail = 0, std::uint64_t cause = kCause) {
  platform::TraceEvent e;
  e.begin = Picoseconds(begin);
  e.end = Picoseconds(end);
  e.activity = activity;
  e.cause = cause;
  e.detail = detail;
  return e;
}

// Milestones at 100, 250, 281, 480, 900, 1100 and 1207 ps.
std::vector<platform::TraceEvent> whole_command() {
  return {event(Activity::kDmaSubmit, 100, 260),
          event(Activity::kMmioWrite, 240, 250, kBar2 | 0x1000),
          event(Activity::kMmioWrite, 270, 281, abi::DmaDoorbell::kOffset),
          event(Activity::kEngineStart, 400, 480),
          event(Activity::kDataWrite, 500, 900),
          event(Activity::kDataWrite, 600, 880),
          event(Activity::kHostWrite, 1000, 1100),
          event(Activity::kEventWait, 265, 1207)};
}

Milestones collect(const std::vector<platform::TraceEvent>& events, std::uint64_t cause = kCause) {
  MilestoneCollector collector;
  for (const auto& e : events) collector.on_event(e);
  return collector.of(cause);
}

std::vector<platform::TraceEvent> without(Activity activity) {
  std::vector<platform::TraceEvent> events;
  for (const auto& e : whole_command()) {
    if (e.activity != activity) events.push_back(e);
  }
  return events;
}

TEST(LatencyParts, AreTheDifferencesOfTheMilestones) {
  const auto parts = latency_parts(collect(whole_command()), RingPlace::kDeviceMemory, kCause);
  ASSERT_TRUE(parts);
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"entry_store", 150}, {"doorbell", 31},    {"engine_start", 199},
      {"data", 420},        {"completion", 200}, {"wait", 107}};
  ASSERT_EQ(parts->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*parts)[i].name, expected[i].first);
    EXPECT_EQ((*parts)[i].time.count(), expected[i].second);
  }
}

TEST(LatencyParts, AddUpToTheLatency) {
  const auto parts = latency_parts(collect(whole_command()), RingPlace::kDeviceMemory, kCause);
  ASSERT_TRUE(parts);
  EXPECT_EQ((Breakdown{"", "", *parts}.total()), Picoseconds(1207 - 100));
}

TEST(LatencyParts, WithTheRingInHostMemoryTheEntryEndsWithTheCall) {
  auto events = whole_command();
  events.erase(events.begin() + 1);  // no write to BAR2
  const auto parts = latency_parts(collect(events), RingPlace::kHostMemory, kCause);
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[0].time.count(), 160);
  EXPECT_EQ((*parts)[1].time.count(), 21);
}

TEST(LatencyParts, AMarkedEventRecordIsBelieved) {
  auto events = whole_command();
  events.push_back(event(Activity::kEventVisible, 1000, 1090));
  const auto parts = latency_parts(collect(events), RingPlace::kDeviceMemory, kCause);
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[4].time.count(), 190);
}

TEST(LatencyParts, OtherCommandsDoNotMixIn) {
  auto events = whole_command();
  events.push_back(event(Activity::kDataWrite, 0, 5000, 0, platform::dma_cause(0, 8)));
  events.push_back(event(Activity::kDataWrite, 0, 5000, 0, platform::dma_cause(1, 7)));
  const auto parts = latency_parts(collect(events), RingPlace::kDeviceMemory, kCause);
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[3].time.count(), 420);
}

TEST(LatencyParts, OtherRegistersAreNoDoorbell) {
  auto events = whole_command();
  events.push_back(event(Activity::kMmioWrite, 270, 300, abi::DmaQueueControl::kOffset));
  const auto parts = latency_parts(collect(events), RingPlace::kDeviceMemory, kCause);
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[1].time.count(), 31);
}

class MissingMilestone : public testing::TestWithParam<Activity> {};
TEST_P(MissingMilestone, IsAnErrorThatNamesTheCommand) {
  const auto parts = latency_parts(collect(without(GetParam())), RingPlace::kDeviceMemory, kCause);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(parts.error().context, HasSubstr("command 7 of card 0: no event tells of"));
}
INSTANTIATE_TEST_SUITE_P(Activities, MissingMilestone,
                         testing::Values(Activity::kDmaSubmit, Activity::kMmioWrite,
                                         Activity::kEngineStart, Activity::kDataWrite,
                                         Activity::kHostWrite, Activity::kEventWait));

TEST(LatencyParts, AMilestoneBeforeItsPredecessorIsAnError) {
  auto events = without(Activity::kEngineStart);
  events.push_back(event(Activity::kEngineStart, 260, 270));  // before the doorbell's 281
  const auto parts = latency_parts(collect(events), RingPlace::kDeviceMemory, kCause);
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, ErrorCode::kOutOfRange);
  EXPECT_THAT(parts.error().context, HasSubstr("the first data request at 270 ps"));
}

TEST(MilestoneCollector, KnowsNothingOfACommandItHasNotSeen) {
  const auto milestones = collect(whole_command(), platform::dma_cause(0, 99));
  EXPECT_FALSE(milestones.submit_called);
}

}  // namespace
}  // namespace npu::workloads
