// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/latencies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npu::workloads {
namespace {

using platform::Activity;

Instant moment(std::int64_t ns) {
  return Instant(Picoseconds(ns * 1000));
}

platform::TraceEvent told_of(Activity activity, std::int64_t begin, std::int64_t end,
                             std::uint64_t cause) {
  platform::TraceEvent event;
  event.activity = activity;
  event.begin = moment(begin);
  event.end = moment(end);
  event.cause = cause;
  return event;
}

std::int64_t ns_of(const MeasuredSpan& span) {
  return (span.end - span.begin).count() / 1000;
}

// The definition, by sorting: of 1 .. n samples, any percent.
TEST(Percentile, IsTheNearestRankOfAnyNumberOfSamples) {
  std::mt19937 random(7);
  for (std::size_t count = 1; count < 130; ++count) {
    std::vector<MeasuredSpan> samples;
    std::vector<std::int64_t> sorted;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t time = random() % 50;
      samples.push_back({moment(100), moment(100 + time)});
      sorted.push_back(time);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const unsigned percent : {1U, 50U, 95U, 99U, 100U}) {
      std::size_t rank = 1;
      while (rank * 100 < percent * count) ++rank;
      EXPECT_EQ(ns_of(percentile(samples, percent)), sorted[rank - 1]) << count << " " << percent;
    }
  }
}

TEST(LatenciesOfEvents, AreOfTheCallTheFirstBlockAndWhoTakesTheEntry) {
  const auto first = platform::queue_cause(0, 3, 0), second = platform::queue_cause(0, 3, 1);
  Latencies latencies;
  latencies.on_event(told_of(Activity::kDmaSubmit, 10, 20, first));
  latencies.on_event(told_of(Activity::kDmaSubmit, 20, 30, second));
  latencies.on_event(told_of(Activity::kQueueDecode, 40, 50, first));
  latencies.on_event(told_of(Activity::kQueueDispatch, 50, 70, first));
  latencies.on_event(told_of(Activity::kKernelBlock, 75, 90, first));
  latencies.on_event(told_of(Activity::kKernelBlock, 80, 95, first));
  latencies.on_event(told_of(Activity::kQueueComplete, 95, 99, first));
  latencies.on_event(told_of(Activity::kQueueWait, 50, 96, second));
  latencies.on_event(told_of(Activity::kQueueComplete, 97, 99, second));
  ASSERT_EQ(latencies.launches().size(), 1U);
  EXPECT_EQ(ns_of(latencies.launches()[0]), 65);
  ASSERT_EQ(latencies.queueing().size(), 2U);
  EXPECT_EQ(ns_of(latencies.queueing()[0]), 50);
  EXPECT_EQ(ns_of(latencies.queueing()[1]), 66);
}

TEST(LatenciesOfEvents, OfDmaRingsAreNone) {
  Latencies latencies;
  latencies.on_event(told_of(Activity::kDmaSubmit, 10, 20, platform::dma_cause(0, 3)));
  latencies.on_event(told_of(Activity::kPageFault, 5, 17, 0));
  EXPECT_TRUE(latencies.queueing().empty() && latencies.launches().empty());
  ASSERT_EQ(latencies.faults().size(), 1U);
  EXPECT_EQ(ns_of(latencies.faults()[0]), 12);
}

}  // namespace
}  // namespace npu::workloads
