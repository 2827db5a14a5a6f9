// SPDX-License-Identifier: Apache-2.0
// What the time of a card's DMA engines was lost to, from events by hand.
#include "workloads/framework/dma_usage.hpp"

#include <gtest/gtest.h>

#include "npu/abi/dma.hpp"

namespace npu::workloads {
namespace {

using platform::Activity;

class DmaUsageOfEvents : public testing::Test {
 protected:
  void add(Activity activity, int begin_ns, int end_ns, std::uint64_t position) {
    platform::TraceEvent event;
    event.activity = activity;
    event.begin = Instant(nanoseconds(begin_ns));
    event.end = Instant(nanoseconds(end_ns));
    event.cause = platform::dma_cause(0, position);
    usage_.on_event(event);
  }
  // Submitted at `at`, dispatched 10 ns later, started at `start`, its data done at `end`.
  void add_command(std::uint64_t position, int at, int start, int end) {
    add(Activity::kDmaSubmit, at - 5, at, position);
    add(Activity::kEngineStart, at + 10, start + 10, position);
    add(Activity::kCompletion, end, end + 20, position);
  }
  static Picoseconds nanoseconds(int count) { return Picoseconds(std::int64_t{count} * 1000); }
  int share(DmaCause cause) const { return static_cast<int>(usage_.time(cause).count() / 1000); }

  DmaUsage usage_{0, {2, Picoseconds(10'000), 4}, Instant()};
};

TEST_F(DmaUsageOfEvents, EveryMomentHasOneCause) {
  add_command(0, 100, 110, 400);  // one of two engines
  add_command(1, 200, 210, 300);  // the other
  add(Activity::kEventWait, 220, 450, 0);
  usage_.finish(Instant(nanoseconds(500)));
  EXPECT_EQ(share(DmaCause::kEngines), 90);    // 210..300
  EXPECT_EQ(share(DmaCause::kInFlight), 150);  // 300..450
  EXPECT_EQ(share(DmaCause::kHost), 260);      // 0..210 and 450..500
}

TEST_F(DmaUsageOfEvents, ACommandBehindOthersOfItsStreamKeepsAnEngineFree) {
  add_command(0, 100, 110, 300);
  add_command(1, 120, 300, 400);  // in the same engine from 130 on
  usage_.finish(Instant(nanoseconds(400)));
  EXPECT_EQ(share(DmaCause::kOrder), 170);  // 130..300
  EXPECT_EQ(share(DmaCause::kHost), 230);
}

TEST_F(DmaUsageOfEvents, SeveralCommandsInTheRingWaitForTheFetch) {
  for (const int position : {0, 1, 2}) {
    add(Activity::kDmaSubmit, position * 10, position * 10 + 10, static_cast<unsigned>(position));
  }
  for (const int position : {0, 1, 2}) {
    add(Activity::kEngineStart, 100, 110, static_cast<unsigned>(position));
  }
  usage_.finish(Instant(nanoseconds(100)));
  EXPECT_EQ(share(DmaCause::kFetch), 80);  // 20..100
}

TEST_F(DmaUsageOfEvents, ReadsInFlightAreAShareOfTheMostThereMayBe) {
  add_command(0, 0, 10, 120);  // moves data from 20 to 120
  add(Activity::kDataRead, 20, 120, 0);
  add(Activity::kDataRead, 20, 120, 0);
  EXPECT_EQ(usage_.reads_percent(), 50);  // two of four
}

TEST_F(DmaUsageOfEvents, OtherCardsAndQueuesDoNotCount) {
  platform::TraceEvent event;
  event.activity = Activity::kEngineStart;
  event.end = Instant(nanoseconds(10));
  for (const auto cause : {platform::dma_cause(1, 0), platform::queue_cause(0, 1, 0)}) {
    event.cause = cause;
    usage_.on_event(event);
    usage_.on_event(event);
  }
  usage_.finish(Instant(nanoseconds(50)));
  EXPECT_EQ(share(DmaCause::kHost), 50);
}

TEST_F(DmaUsageOfEvents, KeepsNoMoreThanRingAndEnginesHold) {
  constexpr int kCommands = 300'000;
  for (int i = 0; i < kCommands; ++i) {
    add_command(static_cast<unsigned>(i), i * 100 + 10, i * 100 + 20, i * 100 + 80);
  }
  usage_.finish(Instant(nanoseconds(kCommands * 100)));
  EXPECT_EQ(share(DmaCause::kHost), kCommands * 100) << "one engine of two at a time";
}

}  // namespace
}  // namespace npu::workloads
