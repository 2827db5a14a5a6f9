// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/milestones.hpp"

#include <gmock/gmock.h>

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
  e.begin = Instant(Picoseconds(begin));
  e.end = Instant(Picoseconds(end));
  e.activity = activity;
  e.cause = cause;
  e.detail = detail;
  return e;
}

// Called at 100; milestones at 250, 281, 480, 900 and 1100; returned at 1207 ps.
std::vector<platform::TraceEvent> whole_command() {
  return {event(Activity::kMmioWrite, 240, 250, kBar2 | 0x1000),
          event(Activity::kMmioWrite, 270, 281, abi::DmaDoorbell::kOffset),
          event(Activity::kEngineStart, 400, 480),
          event(Activity::kDataWrite, 500, 900),
          event(Activity::kDataWrite, 600, 880),
          event(Activity::kCompletion, 880, 940),
          event(Activity::kHostWrite, 1000, 1100)};
}

constexpr CallSpan kCall{Instant(Picoseconds(100)), Instant(Picoseconds(1207))};

Result<Breakdown> collect(const std::vector<platform::TraceEvent>& events,
                          RingPlace ring = RingPlace::kDeviceMemory, std::uint64_t cause = kCause) {
  MilestoneCollector collector(ring);
  for (const auto& e : events) collector.on_event(e);
  return collector.parts(cause, kCall);
}

// Part times in ps, the wait last; empty: an error.
std::vector<std::int64_t> times(const std::vector<platform::TraceEvent>& events,
                                RingPlace ring = RingPlace::kDeviceMemory) {
  const auto breakdown = collect(events, ring);
  if (!breakdown) return {};
  std::vector<std::int64_t> result;
  for (const auto& part : breakdown->parts) result.push_back(part.time.count());
  result.push_back(breakdown->wait->count());
  return result;
}

std::vector<platform::TraceEvent> without(Activity activity) {
  std::vector<platform::TraceEvent> events;
  for (const auto& e : whole_command()) {
    if (e.activity != activity) events.push_back(e);
  }
  return events;
}

std::vector<platform::TraceEvent> with(platform::TraceEvent more, std::size_t at) {
  auto events = whole_command();
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), more);
  return events;
}

using Times = std::vector<std::int64_t>;

TEST(LatencyParts, AreTheDifferencesOfTheMilestones) {
  const auto breakdown = collect(whole_command());
  ASSERT_TRUE(breakdown);
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"submit", 140},       {"entry_store", 10}, {"doorbell", 31},
      {"engine_start", 199}, {"data", 420},       {"completion", 200}};
  ASSERT_EQ(breakdown->parts.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(breakdown->parts[i].name, expected[i].first);
    EXPECT_EQ(breakdown->parts[i].time.count(), expected[i].second);
  }
  EXPECT_EQ(breakdown->wait, Picoseconds(107));
}

TEST(LatencyParts, AddUpToTheCall) {
  const auto breakdown = collect(whole_command());
  ASSERT_TRUE(breakdown);
  EXPECT_EQ(breakdown->call(), Picoseconds(1207 - 100));
}

TEST(LatencyParts, WithTheRingInHostMemoryTheEntryEndsWithTheDoorbellsStore) {
  auto events = whole_command();
  events.erase(events.begin());  // no write to BAR2
  EXPECT_EQ(times(events, RingPlace::kHostMemory), (Times{0, 170, 11, 199, 420, 200, 107}));
}

TEST(LatencyParts, WithoutAnEventRecordTheEngineSaysWhenItIsDone) {
  EXPECT_EQ(times(without(Activity::kHostWrite)), (Times{140, 10, 31, 199, 420, 40, 267}));
}

TEST(LatencyParts, OtherCommandsDoNotMixIn) {
  auto events = whole_command();
  events.push_back(event(Activity::kDataWrite, 0, 5000, 0, platform::dma_cause(0, 8)));
  events.push_back(event(Activity::kDataWrite, 0, 5000, 0, platform::dma_cause(1, 7)));
  EXPECT_EQ(times(events), times(whole_command()));
}

TEST(LatencyParts, OtherRegistersAreNoDoorbell) {
  EXPECT_EQ(times(with(event(Activity::kMmioWrite, 250, 260, abi::DmaQueueControl::kOffset), 1)),
            times(whole_command()));
}

TEST(LatencyParts, ASecondDoorbellAndWhatIsWrittenBehindItDoNotMatter) {
  auto events = with(event(Activity::kMmioWrite, 300, 311, abi::DmaDoorbell::kOffset), 2);
  events.insert(events.begin() + 3, event(Activity::kMmioWrite, 310, 320, kBar2));
  EXPECT_EQ(times(events), times(whole_command()));
}

TEST(LatencyParts, ADoorbellBeforeTheEntryIsForOthers) {
  EXPECT_EQ(times(with(event(Activity::kMmioWrite, 200, 211, abi::DmaDoorbell::kOffset), 0)),
            times(whole_command()));
}

TEST(LatencyParts, WhatTheDriverDidOtherwiseIsMeasuredWithTheNextPart) {
  EXPECT_EQ(times(without(Activity::kMmioWrite)), (Times{0, 0, 0, 380, 420, 200, 107}));
}

class MissingMilestone : public testing::TestWithParam<Activity> {};
TEST_P(MissingMilestone, OfTheCardIsAnErrorThatNamesTheCommand) {
  const auto parts = collect(without(GetParam()));
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(parts.error().context, HasSubstr("command 7 of card 0: no event tells of"));
}
INSTANTIATE_TEST_SUITE_P(Activities, MissingMilestone,
                         testing::Values(Activity::kEngineStart, Activity::kDataWrite));

TEST(LatencyParts, AMilestoneBeforeItsPredecessorCostsNothingMore) {
  auto events = without(Activity::kEngineStart);
  events.push_back(event(Activity::kEngineStart, 260, 270));  // before the doorbell's 281
  EXPECT_EQ(times(events), (Times{140, 10, 31, 0, 619, 200, 107}));
}

TEST(LatencyParts, WhatComesBehindTheReturnIsCutOffThere) {
  auto events = whole_command();
  events.push_back(event(Activity::kHostWrite, 1200, 1300));
  EXPECT_EQ(times(events), (Times{140, 10, 31, 199, 420, 307, 0}));
}

TEST(MilestoneCollector, KnowsNothingOfACommandItHasNotSeen) {
  EXPECT_FALSE(collect(whole_command(), RingPlace::kDeviceMemory, platform::dma_cause(0, 99)));
}

}  // namespace
}  // namespace npu::workloads
