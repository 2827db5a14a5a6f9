// SPDX-License-Identifier: Apache-2.0
#include "timeline/critical_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace npu::timeline {
namespace {

using platform::Activity;
using testing::ElementsAre;

enum Track : std::uint32_t {
  kNone,
  kCpu0,
  kCpu1,
  kMmio,
  kEndpoint,
  kEngine,
  kRoot,
  kDriver,
  kSlot,
  kCore,
  kCube,
  kSetup,
  kAicpu,
  kInterrupts,
  kTracks
};
const std::array<std::string, kTracks> kNames{"none",
                                              "host.cpu0",
                                              "host.cpu1",
                                              "host.mmio",
                                              "pci.card0",
                                              "card0.dma.engine0",
                                              "host.root_complex",
                                              "driver0.submit",
                                              "card0.command.slot0",
                                              "card0.aicore0",
                                              "card0.aicore0.cube",
                                              "card0.aicore0.setup",
                                              "card0.aicpu0",
                                              "host.interrupts"};

std::string name_of(std::uint32_t track) {
  return kNames.at(track);
}

// Times are ns.
class Path : public testing::Test {
 protected:
  void add(Track track, Activity activity, std::int64_t begin, std::int64_t end,
           std::uint64_t cause = 0) {
    platform::TraceEvent event;
    event.begin = Instant(Picoseconds(1000 * begin));
    event.end = Instant(Picoseconds(1000 * end));
    event.cause = cause;
    event.track = track;
    event.activity = activity;
    events_.on_event(event);
  }
  std::vector<PathSegment> find(std::int64_t end) {
    events_.sort(name_of);
    return critical_path(events_, name_of, Instant(Picoseconds(1000 * end)));
  }
  // "name length" in ns, in the order of time.
  static std::vector<std::string> told(const std::vector<PathSegment>& segments) {
    std::vector<std::string> result;
    result.reserve(segments.size());
    for (const auto& each : segments) {
      result.push_back(each.name + " " + std::to_string((each.end - each.begin).count() / 1000));
    }
    return result;
  }

  PathEvents events_;
};

TEST_F(Path, OfARunThatWaitsForNothingIsSoftware) {
  add(kDriver, Activity::kDriverCall, 20, 60);
  add(kCpu0, Activity::kCpuBusy, 0, 100);
  EXPECT_THAT(told(find(100)),
              ElementsAre("software 20", "software in enumerate 40", "software 40"));
}

TEST_F(Path, OfAMachineWithoutHostTasksIsNobodys) {
  add(kEngine, Activity::kDataRead, 20, 60);
  EXPECT_THAT(told(find(100)), ElementsAre("no host task 100"));
  PathEvents nothing;
  nothing.sort(name_of);
  EXPECT_EQ(critical_path(nothing, name_of, Instant(Picoseconds(5))).size(), 1U);
}

TEST_F(Path, LeadsThroughTheRequestThatIsPolledFor) {
  const std::uint64_t cause = platform::dma_cause(0, 0);
  add(kDriver, Activity::kDmaSubmit, 10, 30, cause);
  add(kEndpoint, Activity::kMmioWrite, 20, 40, cause);
  add(kEngine, Activity::kEngineStart, 50, 60, cause);
  add(kEngine, Activity::kDataWrite, 60, 80, cause);
  add(kRoot, Activity::kHostWrite, 85, 90, cause);
  add(kCpu0, Activity::kPoll, 30, 95, cause);
  add(kCpu0, Activity::kCpuBusy, 0, 100);
  EXPECT_THAT(told(find(100)),
              ElementsAre("software 10", "software in dma_submit 10", "mmio_write 20",
                          "mmio_write to engine_start 10", "engine_start 10", "data_write 20",
                          "data_write to host_write 5", "host_write 5", "host_write to waiter 5",
                          "software 5"));
}

TEST_F(Path, LeadsToTheCommandThatKeptTheEngine) {
  const std::uint64_t first = platform::dma_cause(0, 0), second = platform::dma_cause(0, 1);
  add(kEngine, Activity::kDataWrite, 10, 50, first);
  add(kEngine, Activity::kCompletion, 50, 55, first);
  add(kEngine, Activity::kEngineStart, 20, 60, second);
  add(kEngine, Activity::kDataWrite, 60, 80, second);
  add(kCpu0, Activity::kPoll, 0, 80, second);
  add(kCpu0, Activity::kCpuBusy, 0, 80);
  EXPECT_THAT(told(find(80)), ElementsAre("poll 10", "data_write 40", "completion 5",
                                          "engine_start 5", "data_write 20"));
}

TEST_F(Path, LeadsToTheTaskThatWokeThisOne) {
  add(kCpu1, Activity::kCpuBusy, 10, 70);
  add(kCpu0, Activity::kCpuBusy, 0, 20);
  add(kCpu0, Activity::kCpuIdle, 20, 75);
  add(kCpu0, Activity::kCpuBusy, 75, 100);
  EXPECT_THAT(told(find(100)), ElementsAre("software 70", "wake-up 5", "software 25"));
}

TEST_F(Path, OfATaskLeadsFromItsInstructionsToTheSchedulersDispatch) {
  const std::uint64_t launch = platform::queue_cause(0, 1, 0);
  add(kAicpu, Activity::kAicpuDispatch, 10, 30, platform::queue_cause(0, 2, 0));
  add(kSetup, Activity::kTaskSetup, 25, 40, launch);
  add(kCube, Activity::kPipe, 45, 70, launch);
  add(kCore, Activity::kKernelCall, 40, 75, launch);
  add(kCore, Activity::kKernelBlock, 0, 80, launch);
  add(kSlot, Activity::kQueueComplete, 80, 85, launch);
  add(kCpu0, Activity::kPoll, 0, 85, launch);
  add(kCpu0, Activity::kCpuBusy, 0, 85);
  EXPECT_THAT(told(find(85)),
              ElementsAre("poll 10", "aicpu_dispatch 15", "task_setup 15", "task_setup to pipe 5",
                          "pipe 25", "pipe to end of kernel_block 10", "queue_complete 5"));
}

TEST_F(Path, OfAnyEventsHasNeitherGapNorOverlap) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    events_ = {};
    const std::int64_t end = 200;
    for (int i = 0; i < 60; ++i) {
      const auto track = static_cast<Track>(1 + random() % (kTracks - 1));
      const auto activity = static_cast<Activity>(random() % platform::kActivities);
      const auto begin = static_cast<std::int64_t>(random() % 200);
      const auto length = static_cast<std::int64_t>(random() % 40);
      add(track, activity, begin, begin + length, platform::dma_cause(0, random() % 4));
    }
    const auto segments = find(end);
    std::int64_t last = 0;
    for (const auto& each : segments) {
      ASSERT_EQ(each.begin.since_power_up().count(), last) << "seed " << seed;
      ASSERT_LT(each.begin, each.end) << "seed " << seed;
      last = each.end.since_power_up().count();
    }
    ASSERT_EQ(last, 1000 * end) << "seed " << seed;
  }
}

TEST_F(Path, HasPartsThatAddUpToIt) {
  add(kCpu0, Activity::kPoll, 10, 20);
  add(kCpu0, Activity::kPoll, 30, 60);
  add(kCpu0, Activity::kCpuBusy, 0, 100);
  const auto parts = path_parts(find(100));
  Picoseconds sum;
  for (const auto& part : parts) sum += part.time;
  EXPECT_EQ(sum, 100_ns);
  EXPECT_EQ(parts[0].name, "software");
  EXPECT_EQ(parts[1].segments, 2U);
}

}  // namespace
}  // namespace npu::timeline
