// SPDX-License-Identifier: Apache-2.0
// Times in closed form, to the picosecond, and the events that tell them.
#include "dma_bench.hpp"

namespace npu::test {
namespace {

using platform::Activity;

constexpr SimTime kHbm = 100'000, kHost = 500'000;           // stand-in latencies
constexpr SimTime kStart = 20'000 + kHbm + 15'000 + 40'000;  // doorbell, fetch, decode, setup
constexpr SimTime kCompletion = 25'000;

class Collector : public platform::TraceSink {
 public:
  std::vector<platform::TraceEvent> events;
  void on_event(const platform::TraceEvent& event) override { events.push_back(event); }
  const platform::TraceEvent& only(Activity activity) const {
    const platform::TraceEvent* found = nullptr;
    for (const auto& e : events) {
      if (e.activity != activity) continue;
      EXPECT_EQ(found, nullptr) << "more than one " << to_string(activity);
      found = &e;
    }
    EXPECT_NE(found, nullptr) << to_string(activity);
    return *found;
  }
};

// When the interrupt of a command of 64 bytes is raised, counted from the doorbell.
SimTime time_to_interrupt(DmaOpcode opcode) {
  DmaBench bench;
  bench.enable();
  const SimTime begin = model::sim_now();
  bench.submit(make_entry(opcode, 0x10000, 0x20000, 64, 2, 9, true));
  bench.run(1_ms);
  EXPECT_EQ(bench.interrupts.size(), 1u);
  EXPECT_EQ(bench.interrupts.at(0).vector, 3u) << "the stream's vector";
  return bench.interrupts.at(0).when - begin;
}

TEST(DmaLatency, HostToDeviceIsStartReadWriteCompletion) {
  EXPECT_EQ(time_to_interrupt(kH2d), kStart + kHost + kHbm + kCompletion);
}
TEST(DmaLatency, DeviceToHostIsStartTranslationReadCompletion) {
  EXPECT_EQ(time_to_interrupt(kD2h), kStart + kHost + kHbm + kCompletion);
}
TEST(DmaLatency, DeviceToDeviceIsStartReadWriteCompletion) {
  EXPECT_EQ(time_to_interrupt(kD2d), kStart + kHbm + kHbm + kCompletion);
}

TEST(DmaLatency, ATranslationIsAskedForOnce) {
  DmaBench bench;
  bench.enable();
  const auto entry = make_entry(kD2h, 0, 0x20000, 64, 0, 1, true);
  bench.submit(entry);
  bench.run(1_ms);
  const SimTime begin = model::sim_now();
  bench.submit(entry);
  bench.run(1_ms);
  EXPECT_EQ(bench.interrupts.at(1).when - begin, kStart + kHbm + kCompletion);
  bench.dma.invalidate_translations(0);
  bench.submit(entry);
  bench.run(1_ms);
  EXPECT_EQ(bench.dma.statistics().translations, 2u);
}

TEST(DmaLatency, SameStreamRunsStrictlyInSequence) {
  DmaBench bench;
  bench.enable();
  const SimTime begin = model::sim_now();
  for (int i = 0; i < 2; ++i) {
    bench.push(make_entry(kD2d, 0, 0x1000, 64, 0, 1, true));
  }
  bench.ring_doorbell();
  bench.run(1_ms);
  const SimTime one = 40'000 + 2 * kHbm + kCompletion;
  EXPECT_EQ(bench.interrupts.at(0).when - begin, kStart - 40'000 + one);
  EXPECT_EQ(bench.interrupts.at(1).when - begin, kStart - 40'000 + 2 * one);
}

TEST(DmaLatency, AnotherStreamsSetupOverlapsCompletionProcessing) {
  auto config = dma_chip_config();
  config.dma.engines = 1;
  DmaBench bench(config);
  bench.enable();
  const SimTime begin = model::sim_now();
  for (unsigned i = 0; i < 2; ++i) {
    bench.push(make_entry(kD2d, 0, 0x1000, 64, i, 1, true));
  }
  bench.ring_doorbell();
  bench.run(1_ms);
  const SimTime first_data = begin + kStart + 2 * kHbm;
  EXPECT_EQ(bench.interrupts.at(0).when, first_data + kCompletion);
  EXPECT_EQ(bench.interrupts.at(1).when, first_data + 40'000 + 2 * kHbm + kCompletion);
}

TEST(DmaLatency, EveryPartOfACommandIsTracedUnderItsCause) {
  DmaBench bench;
  Collector collector;
  bench.sim.recorder.add(collector);
  bench.enable();
  const SimTime begin = model::sim_now();
  bench.submit(make_entry(kH2d, 0x10000, 0x20000, 64, 2, 9));
  bench.run(1_ms);
  const auto at = [begin](SimTime t) { return model::instant(begin + t); };
  EXPECT_EQ(collector.only(Activity::kDescriptorFetch).begin, at(20'000));
  EXPECT_EQ(collector.only(Activity::kDescriptorFetch).detail, 1u);
  EXPECT_EQ(collector.only(Activity::kEngineStart).begin, at(kStart - 40'000));
  EXPECT_EQ(collector.only(Activity::kEngineStart).end, at(kStart));
  EXPECT_EQ(collector.only(Activity::kDataRead).begin, at(kStart));
  EXPECT_EQ(collector.only(Activity::kDataRead).end, at(kStart + kHost));
  EXPECT_EQ(collector.only(Activity::kDataWrite).end, at(kStart + kHost + kHbm));
  EXPECT_EQ(collector.only(Activity::kCompletion).end, at(kStart + kHost + kHbm + kCompletion));
  EXPECT_EQ(collector.only(Activity::kCommand).detail, 0x01u << 16 | 2u);
  EXPECT_EQ(collector.only(Activity::kCommand).bytes, 64u);
  for (const auto& event : collector.events) EXPECT_EQ(event.cause, platform::dma_cause(3, 0));
  bench.sim.recorder.remove(collector);
}

TEST(DmaLatency, DataEventRecordAndInterruptLeaveInThisOrder) {
  DmaBench bench;
  bench.enable();
  bench.submit(make_entry(kD2h, 0, 0x20000, 10'000, 2, 9, true));
  bench.run(1_ms);
  const auto writes = bench.host.requests(tlm::TLM_WRITE_COMMAND);
  ASSERT_EQ(writes.size(), 4u);
  EXPECT_EQ(writes.back().address, kRecords + 9 * 8);
  EXPECT_EQ(writes.back().length, 8u);
  EXPECT_EQ(bench.interrupts.at(0).host_requests_before, bench.host.seen.size());
  EXPECT_EQ(bench.interrupts.at(0).cause, writes.back().cause);
}

}  // namespace
}  // namespace npu::test
