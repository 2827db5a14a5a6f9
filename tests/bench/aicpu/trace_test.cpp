// SPDX-License-Identifier: Apache-2.0
// What a timeline shows of a program.
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using platform::Activity;
using platform::AicpuPhase;

class Sink : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override { events.push_back(event); }
  std::vector<platform::TraceEvent> events;
};

TEST(Trace, PhasesHaveTheirTimeTheirTaskAndTheCoreSTrack) {
  AicpuBench bench;
  Sink sink;
  bench.sim.recorder.add(sink);
  std::uint64_t begin = 0;
  bench.start(1, [&](AicpuPort& port) {
    begin = port.system_counter();
    port.phase(AicpuPhase::kDispatch, 7);
    port.compute(100);
    port.phase(AicpuPhase::kIdle);
    port.compute(1000);
    port.phase(AicpuPhase::kComplete, 8);
    port.compute(30);
    port.phase(AicpuPhase::kDump, 9);
    port.compute(20);
    return 0;
  });
  bench.run();
  bench.sim.recorder.remove(sink);
  ASSERT_EQ(sink.events.size(), 4U);
  const auto& dispatch = sink.events[0];
  EXPECT_EQ(dispatch.activity, Activity::kAicpuDispatch);
  EXPECT_EQ(dispatch.detail, 7U);
  EXPECT_EQ(dispatch.begin.since_power_up().count(), static_cast<std::int64_t>(begin * kNs));
  EXPECT_EQ((dispatch.end - dispatch.begin).count(), 100'000);
  EXPECT_EQ(dispatch.track, bench.sim.recorder.track("aicpu1"));
  EXPECT_EQ(sink.events[1].activity, Activity::kAicpuComplete);
  EXPECT_EQ((sink.events[1].end - sink.events[1].begin).count(), 30'000);
  EXPECT_EQ(sink.events[2].activity, Activity::kAicpuDump);
  EXPECT_EQ(sink.events[2].detail, 9U);
  EXPECT_EQ(sink.events[3].activity, Activity::kKernelBlock);
}

TEST(Statistics, TheyCountWhatAProgramDid) {
  AicpuBench bench;
  bench.run_program([](AicpuPort& port) {
    const auto before = port.load(kDataAt, 4);
    port.load(kDataAt, 4);
    port.store(kDataAt, 4, before);
    port.fetch_add(kDataAt, 4, 1);
    port.store_register(0, 0xA0, 1);
    port.load_register(0, 0x4C8);
    return 0;
  });
  const auto s = bench.programs.statistics();
  EXPECT_EQ(s.loads, 3U);  // one of the image's header
  EXPECT_EQ(s.misses, 2U);
  EXPECT_EQ(s.stores, 1U);
  EXPECT_EQ(s.atomics, 1U);
  EXPECT_EQ(s.register_stores, 1U);
  EXPECT_EQ(s.register_loads, 1U);
}

}  // namespace
}  // namespace npu::test
