// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/limits.hpp"

#include <gtest/gtest.h>

namespace npu::workloads {
namespace {

LinkCounters link(const std::string& name, Picoseconds busy, Bytes payload, Bytes header,
                  Bytes dllp) {
  LinkCounters counters;
  counters.name = name;
  counters.busy = busy;
  counters.payload = payload;
  counters.header = header;
  counters.dllp = dllp;
  return counters;
}

const Limit* find(const std::vector<Limit>& limits, const std::string& name) {
  for (const auto& limit : limits) {
    if (limit.name == name) return &limit;
  }
  return nullptr;
}

TEST(LinkLimits, ShareTheTimeOfTheBusiestDirection) {
  // 90 us of 100 are busy; of 1000 bytes 80 are headers and 20 DLLPs.
  const Snapshot gained{100_us, {link("down", 90_us, 900, 80, 20), link("up", 1_us, 0, 10, 0)}, {}};
  const auto limits = link_limits("dma.h2d.1MiB", gained);
  ASSERT_EQ(limits.size(), 3U) << "credits are no limit";
  EXPECT_EQ(find(limits, "link_idle")->percent.text(), "10.000");
  EXPECT_EQ(find(limits, "tlp_overhead")->percent.text(), "7.200");
  EXPECT_EQ(find(limits, "dllp")->percent.text(), "1.800");
}

TEST(LinkLimits, TheLargestComesFirst) {
  const Snapshot gained{100_us, {link("down", Picoseconds(99'500'000), 900, 80, 20)}, {}};
  const auto limits = link_limits("x", gained);
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0].name, "link") << "full";
  EXPECT_EQ(limits[1].name, "tlp_overhead");
  EXPECT_EQ(limits[2].name, "dllp");
  EXPECT_EQ(limits[3].name, "link_idle");
}

TEST(LinkLimits, CausesShareTheIdleTime) {
  const Snapshot gained{100_us, {link("down", 40_us, 900, 80, 20)}, {}};
  const auto limits = link_limits(
      "x", gained, {{"engines", "", 10_us}, {"host", "", 20_us}, {"in_flight", "", 0_us}});
  EXPECT_EQ(find(limits, "link_idle"), nullptr);
  EXPECT_EQ(find(limits, "link"), nullptr) << "it has room";
  EXPECT_EQ(find(limits, "engines")->percent.text(), "20.000");
  EXPECT_EQ(find(limits, "host")->percent.text(), "40.000");
  EXPECT_EQ(find(limits, "in_flight"), nullptr) << "nothing is no limit";
}

TEST(LinkLimits, AFullMemoryOrBoundReadsAreWhatEnginesWaitFor) {
  const DmaEngines engines{1, Picoseconds(), 1};
  DmaUsage usage(0, engines, Instant());
  platform::TraceEvent event;
  event.cause = platform::dma_cause(0, 0);
  for (const auto activity : {platform::Activity::kEngineStart, platform::Activity::kDataRead,
                              platform::Activity::kCompletion}) {
    event.activity = activity;
    event.begin = activity == platform::Activity::kCompletion ? Instant(10_us) : Instant();
    event.end = activity == platform::Activity::kDataRead ? Instant(10_us) : event.begin;
    usage.on_event(event);
  }
  usage.finish(Instant(10_us));
  EXPECT_EQ(idle_causes(usage, engines, false, false)[0].name, "engines");
  EXPECT_EQ(idle_causes(usage, engines, false, true)[0].name, "hbm");
  EXPECT_EQ(idle_causes(usage, engines, true, false)[0].name, "outstanding_reads");
}

TEST(MemoryLimits, ShareTheTimeOfTheDataBuses) {
  MemoryCounters memory;
  memory.data = 800_us;
  memory.refresh = 50_us;
  memory.row = 30_us;
  memory.column = 10_us;
  memory.turnaround = 90_us;
  memory.idle = 20_us;
  const auto limits = memory_limits("x", {100_us, {}, {memory}}, 0);
  EXPECT_EQ(find(limits, "refresh")->percent.text(), "5.000");
  EXPECT_EQ(find(limits, "row_misses")->percent.text(), "3.000");
  EXPECT_EQ(find(limits, "turnaround")->percent.text(), "9.000");
  EXPECT_EQ(find(limits, "column_gaps")->percent.text(), "1.000");
  EXPECT_EQ(find(limits, "memory_idle")->percent.text(), "2.000");
}

TEST(Limits, WithoutCountersThereAreNone) {
  EXPECT_TRUE(link_limits("x", {100_us, {}, {}}).empty());
  EXPECT_TRUE(memory_limits("x", {100_us, {}, {}}, 0).empty());
}

TEST(Difference, SubtractsCountersAndKeepsNames) {
  const Snapshot before{10_us, {link("down", 5_us, 100, 10, 1)}, {}};
  const Snapshot after{30_us, {link("down", 12_us, 300, 40, 5)}, {}};
  const auto gained = difference(before, after);
  EXPECT_EQ(gained.time, 20_us);
  EXPECT_EQ(gained.links[0].name, "down");
  EXPECT_EQ(gained.links[0].busy, 7_us);
  EXPECT_EQ(gained.links[0].payload, 200U);
  EXPECT_EQ(gained.links[0].header, 30U);
  EXPECT_EQ(gained.links[0].dllp, 4U);
}

TEST(Difference, SubtractsWhatAnL2Counts) {
  L2Counters l2;
  l2.name = "card0.l2";
  l2.hits = 5;
  l2.written_back = 512;
  l2.busy = 3_us;
  Snapshot before{10_us, {}, {}, {l2}};
  l2.hits = 9;
  l2.written_back = 2048;
  l2.busy = 10_us;
  const auto gained = difference(before, {30_us, {}, {}, {l2}});
  ASSERT_EQ(gained.l2s.size(), 1U);
  EXPECT_EQ(gained.l2s[0].name, "card0.l2");
  EXPECT_EQ(gained.l2s[0].hits, 4U);
  EXPECT_EQ(gained.l2s[0].written_back, 1536U);
  EXPECT_EQ(gained.l2s[0].busy, 7_us);
}

}  // namespace
}  // namespace npu::workloads
