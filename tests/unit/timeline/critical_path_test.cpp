// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/critical_path.hpp"

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <random>

namespace npu::timeline {
namespace {

using platform::Activity;
using platform::BeganAfter;
using platform::Pipe;
using platform::PipeOperation;
using platform::ScalarWait;
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
  kMte2,
  kScalar,
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
                                              "card0.aicore0.mte2",
                                              "card0.aicore0.scalar",
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
           std::uint64_t cause = 0, std::uint64_t detail = 0) {
    platform::TraceEvent event;
    event.detail = detail;
    event.begin = Instant(Picoseconds(1000 * begin));
    event.end = Instant(Picoseconds(1000 * end));
    event.cause = cause;
    event.track = track;
    event.activity = activity;
    events_->on_event(event);
  }
  std::vector<PathSegment> find(std::int64_t end) {
    events_->sort(name_of);
    return critical_path(*events_, name_of, Instant(Picoseconds(1000 * end)));
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

  std::unique_ptr<PathEvents> events_ = std::make_unique<PathEvents>();
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
  EXPECT_THAT(told(find(85)), ElementsAre("poll 10", "aicpu_dispatch 15", "task_setup 15",
                                          "scalar 5", "pipe 25", "scalar 10", "queue_complete 5"));
}

// One launch of a kernel that is polled for: the block from 10 to 90.
class KernelPath : public Path {
 protected:
  static constexpr std::uint64_t kLaunch = platform::queue_cause(0, 1, 0);
  void add_launch() {
    add(kSlot, Activity::kQueueDispatch, 5, 10, kLaunch);
    add(kCore, Activity::kKernelBlock, 10, 90, kLaunch);
    add_wait(ScalarWait::kEnd, Pipe::kAll, 85, 90);
    add(kSlot, Activity::kQueueComplete, 90, 95, kLaunch);
    add(kCpu0, Activity::kPoll, 0, 100, kLaunch);
    add(kCpu0, Activity::kCpuBusy, 0, 100);
  }
  void add_wait(ScalarWait wait, Pipe pipe, std::int64_t begin, std::int64_t end) {
    add(kScalar, Activity::kScalarWait, begin, end, kLaunch,
        platform::ScalarWaitDetail{wait, pipe, BeganAfter::kOwn, Pipe::kScalar}.pack());
  }
  void add_mmad(std::int64_t begin, std::int64_t end, BeganAfter after = BeganAfter::kOwn,
                Pipe flag = Pipe::kScalar) {
    platform::PipeDetail detail;
    detail.pipe = Pipe::kCube;
    detail.operation = PipeOperation::kMmad;
    detail.after = after;
    detail.flag = flag;
    add(kCube, Activity::kPipe, begin, end, kLaunch, detail.pack());
  }
  // Of each 255 a share; what is left is the path's rate.
  void add_copy(std::int64_t begin, std::int64_t end, std::uint8_t l2, std::uint8_t hbm) {
    platform::PipeDetail detail;
    detail.pipe = Pipe::kMte2;
    detail.operation = PipeOperation::kGmToL1;
    detail.after = BeganAfter::kIssue;
    add(kMte2, Activity::kPipe, end - 1, end, kLaunch, detail.pack());
    detail.l2 = l2;
    detail.hbm = hbm;
    add(kMte2, Activity::kCopyPath, begin, end, kLaunch, detail.pack());
  }
};

TEST_F(KernelPath, LeadsFromAnInstructionToTheCopyWhoseFlagItWaitedFor) {
  add_launch();
  add_wait(ScalarWait::kStart, Pipe::kAll, 10, 12);
  add_wait(ScalarWait::kMemory, Pipe::kAll, 12, 20);
  add_copy(24, 75, 50, 100);
  add_mmad(77, 85, BeganAfter::kFlag, Pipe::kMte2);
  add_wait(ScalarWait::kDrain, Pipe::kAll, 30, 85);
  EXPECT_THAT(
      told(find(100)),
      ElementsAre("poll 5", "queue_dispatch 5", "start of kernel_block 2",
                  "scalar waits for memory 8", "scalar 4", "gm_to_l1 at its rate 21",
                  "gm_to_l1 waits for HBM 20", "gm_to_l1 waits for L2 10", "flag 2", "mmad 8",
                  "end of kernel_block 5", "queue_complete 5", "queue_complete to waiter 5"));
}

// The second one was there in time and waited for the first.
TEST_F(KernelPath, LeadsThroughThePipeThatWasBusy) {
  add_launch();
  add_mmad(15, 50, BeganAfter::kIssue);
  add_mmad(50, 85);
  add_wait(ScalarWait::kDrain, Pipe::kAll, 20, 85);
  EXPECT_THAT(told(find(100)), ElementsAre("poll 5", "queue_dispatch 5", "scalar 5", "mmad 35",
                                           "mmad 35", "end of kernel_block 5", "queue_complete 5",
                                           "queue_complete to waiter 5"));
}

// The scalar unit could not issue until the pipe went on, which a copy held up.
TEST_F(KernelPath, LeadsFromALateIssueThroughTheFullQueueToWhatHeldItUp) {
  add_launch();
  add_wait(ScalarWait::kMemory, Pipe::kAll, 10, 12);
  add_copy(15, 58, 0, 255);
  add_mmad(60, 64, BeganAfter::kFlag, Pipe::kMte2);
  add_wait(ScalarWait::kRoom, Pipe::kCube, 20, 60);
  add_mmad(70, 85, BeganAfter::kIssue);
  add_wait(ScalarWait::kDrain, Pipe::kAll, 71, 85);
  EXPECT_THAT(
      told(find(100)),
      ElementsAre("poll 5", "queue_dispatch 5", "scalar waits for memory 2", "scalar 3",
                  "gm_to_l1 waits for HBM 43", "flag 2", "scalar 10", "mmad 15",
                  "end of kernel_block 5", "queue_complete 5", "queue_complete to waiter 5"));
}

TEST_F(KernelPath, LeadsFromAnEntryThatWaitedToTheProgramBeforeIt) {
  const std::uint64_t barrier = platform::queue_cause(0, 1, 1);
  add_launch();
  add(kSlot, Activity::kQueueWait, 20, 90, barrier);
  add(kSlot, Activity::kQueueComplete, 90, 99, barrier);
  add(kCpu1, Activity::kPoll, 0, 105, barrier);
  add(kCpu1, Activity::kCpuBusy, 0, 105);
  add_wait(ScalarWait::kMemory, Pipe::kAll, 10, 80);
  const auto found = told(find(105));
  EXPECT_THAT(found, testing::Contains("scalar waits for memory 70"));
  EXPECT_THAT(found, testing::Not(testing::Contains("queue_wait 70")));
}

TEST_F(Path, LeadsToTheTaskThatWokeThisOneInNoTime) {
  add(kCpu1, Activity::kCpuBusy, 10, 75);
  add(kCpu0, Activity::kCpuBusy, 0, 20);
  add(kCpu0, Activity::kCpuIdle, 20, 75);
  add(kCpu0, Activity::kCpuBusy, 75, 100);
  EXPECT_THAT(told(find(100)), ElementsAre("software 75", "software 25"));
}

TEST_F(Path, OfTasksThatWokeEachOtherAtOneTimeGoesOn) {
  add(kCpu0, Activity::kCpuIdle, 10, 50);
  add(kCpu1, Activity::kCpuIdle, 10, 50);
  add(kCpu0, Activity::kCpuBusy, 0, 60);
  add(kCpu1, Activity::kCpuBusy, 0, 50);
  EXPECT_THAT(told(find(60)), ElementsAre("software 10", "cpu_idle 40", "software 10"));
}

TEST_F(Path, OfAnyEventsHasNeitherGapNorOverlap) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    events_ = std::make_unique<PathEvents>();
    const std::int64_t end = 200;
    for (int i = 0; i < 60; ++i) {
      const auto track = static_cast<Track>(1 + random() % (kTracks - 1));
      const auto activity = static_cast<Activity>(random() % platform::kActivities);
      const auto begin = static_cast<std::int64_t>(random() % 200);
      const auto length = static_cast<std::int64_t>(random() % 40);
      const auto number = random() % 4;
      const auto cause =
          random() % 2 == 0 ? platform::dma_cause(0, number) : platform::queue_cause(0, 1, number);
      // Of a core: pipe, operation, why it began then.
      const std::uint64_t detail = random() % 7 | (random() % 12) << 8 | (random() % 5) << 16 |
                                   (random() % 8) << 20 | std::uint64_t{random()} << 24;
      add(track, activity, begin, begin + length, cause, detail);
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
