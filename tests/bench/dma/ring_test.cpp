// SPDX-License-Identifier: Apache-2.0
// The submission queue: fetching, wrap, full ring, order, back-pressure, host memory.
#include <map>

#include "dma_bench.hpp"

namespace npu::test {
namespace {

DmaEntry small(std::uint64_t tag, unsigned stream = 0, std::uint32_t event = 0) {
  return make_entry(DmaOpcode::kDeviceToDevice, 0, 0x10000 + 64 * (tag % 4096), 64, stream, event);
}

// Ring reads as seen by `memory`.
std::vector<MemoryRequest> fetches(const StandInMemory& memory, std::uint64_t base) {
  std::vector<MemoryRequest> found;
  for (const auto& read : memory.requests(tlm::TLM_READ_COMMAND)) {
    if (read.address >= base && read.address < base + 4096 * 32) found.push_back(read);
  }
  return found;
}

using DmaRing = OnBench<DmaBench>;

TEST_F(DmaRing, FetchesInBatchesOfAtMostTheConfiguredSize) {
  bench.enable();
  for (unsigned i = 0; i < 40; ++i) bench.push(small(i));
  bench.ring_doorbell();
  bench.run(1_ms);
  const auto reads = fetches(bench.hbm, kRing);
  ASSERT_EQ(reads.size(), 3u);
  EXPECT_EQ(reads[0].length, 16 * 32u);
  EXPECT_EQ(reads[1].length, 16 * 32u);
  EXPECT_EQ(reads[2].length, 8 * 32u);
  EXPECT_EQ(bench.event(0).count(), 40u);
}

TEST_F(DmaRing, SplitsABatchAtTheWrap) {
  bench.enable();
  for (unsigned i = 0; i < 4090; ++i) bench.push(small(i));
  bench.ring_doorbell();
  bench.run(10_ms);
  bench.hbm.seen.clear();
  for (unsigned i = 0; i < 12; ++i) bench.push(small(i));
  bench.ring_doorbell();
  bench.run(1_ms);
  const auto reads = fetches(bench.hbm, kRing);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0].address, kRing + 4090 * 32);
  EXPECT_EQ(reads[0].length, 6 * 32u);
  EXPECT_EQ(reads[1].address, kRing);
  EXPECT_EQ(reads[1].length, 6 * 32u);
  EXPECT_EQ(bench.read<abi::DmaConsumerIndex>().raw, 6u);
  EXPECT_EQ(bench.event(0).count(), 4102u);
}

TEST_F(DmaRing, AFullRingIsWorkedOffWithoutLoss) {
  bench.enable();
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < abi::kRingEntries - 1; ++i) bench.push(small(i, i % 4, i % 4));
    bench.ring_doorbell();
    bench.run(10_ms);
    EXPECT_EQ(bench.read<abi::DmaConsumerIndex>().raw, bench.producer);
  }
  unsigned total = 0;
  for (unsigned i = 0; i < 4; ++i) total += bench.event(i).count();
  EXPECT_EQ(total, 3 * (abi::kRingEntries - 1));
}

TEST_F(DmaRing, ConsumerIndexStopsWhereTheEnginesAreFull) {
  bench.hbm.verdict = [this](tlm::tlm_generic_payload& trans) {
    if (trans.get_address() < kRing) bench.hbm.answer = false;
    std::memcpy(trans.get_data_ptr(), &bench.hbm.bytes[trans.get_address()],
                trans.get_data_length());
    return model::Completion::kSuccess;
  };
  bench.enable();
  for (unsigned i = 0; i < 10; ++i) bench.push(small(i, 2));
  bench.ring_doorbell();
  bench.run(100_us);
  EXPECT_EQ(bench.read<abi::DmaConsumerIndex>().raw, 4u) << "one stream, one engine of depth 4";
  EXPECT_EQ(bench.read<abi::DmaQueueStatus>().get<abi::DmaQueueStatus::Idle>(), 0u);
}

TEST_F(DmaRing, StreamsSpreadOverEnginesLowestFirst) {
  bench.enable(8);
  bench.hbm.latency = 1'000'000;
  for (unsigned stream = 0; stream < 8; ++stream) bench.push(small(stream, stream));
  bench.ring_doorbell();
  bench.run(1500_ns);
  // Four engines move data of the first four streams at one time.
  std::map<SimTime, unsigned> starts;
  for (const auto& read : bench.hbm.requests(tlm::TLM_READ_COMMAND)) {
    if (read.address < kRing) ++starts[read.when];
  }
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts.begin()->second, 4u);
}

TEST_F(DmaRing, CommandsOfAStreamRunOneAfterAnother) {
  bench.enable();
  for (unsigned i = 0; i < 400; ++i) {  // source is told by the write's address
    const auto size = 1 + bench.random() % 5000;
    bench.push(make_entry(DmaOpcode::kDeviceToDevice, 0, (i % 4) * 1_MiB, size, i % 4, i % 4));
  }
  bench.ring_doorbell();
  bench.run(10_ms);
  std::map<std::uint64_t, std::uint64_t> last;  // stream -> cause
  for (const auto& write : bench.hbm.requests(tlm::TLM_WRITE_COMMAND)) {
    auto& cause = last[write.address / 1_MiB];
    EXPECT_LE(cause, write.cause) << "a later command's write came before";
    cause = write.cause;
  }
  EXPECT_EQ(last.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(bench.event(i).count(), 100u);
}

TEST_F(DmaRing, LaterCommandOfAStreamSeesTheDataOfTheEarlier) {
  bench.enable();
  bench.fill_random(bench.hbm.bytes, 0, 9999);
  for (unsigned i = 0; i < 50; ++i) {
    bench.push(make_entry(DmaOpcode::kDeviceToDevice, i * 10'000, (i + 1) * 10'000, 9999, 1, 1));
  }
  bench.ring_doorbell();
  bench.run(1_ms);
  EXPECT_EQ(0, std::memcmp(&bench.hbm.bytes[0], &bench.hbm.bytes[500'000], 9999));
}

TEST_F(DmaRing, HostRingIsReadOverTheLinkInRequestsItAllows) {
  bench.enable(4, true);
  for (unsigned i = 0; i < 40; ++i) bench.push(small(i));
  bench.ring_doorbell();
  bench.run(1_ms);
  const auto reads = fetches(bench.host, bench.ring_base);
  ASSERT_EQ(reads.size(), 3u) << "16 entries are one request of 512 B";
  for (const auto& read : reads) EXPECT_LE(read.length, 512u);
  EXPECT_TRUE(fetches(bench.hbm, kRing).empty());
  EXPECT_EQ(bench.event(0).count(), 40u);
}

TEST_F(DmaRing, EnablingAnewStartsFromEntryZero) {
  bench.enable();
  for (unsigned i = 0; i < 7; ++i) bench.push(small(i));
  bench.ring_doorbell();
  bench.run(1_ms);
  bench.enable_queue();
  EXPECT_EQ(bench.read<abi::DmaConsumerIndex>().raw, 0u);
  EXPECT_EQ(bench.read<abi::DmaDoorbell>().raw, 0u);
  bench.submit(small(0, 0, 5));
  bench.run(1_ms);
  EXPECT_EQ(bench.event(5).count(), 1u);
  EXPECT_EQ(bench.event(0).count(), 7u) << "counts stay";
}

TEST_F(DmaRing, DoorbellOfADisabledQueueDoesNothing) {
  bench.enable();
  bench.write(abi::DmaQueueControl{});
  bench.submit(small(0));
  bench.run(1_ms);
  EXPECT_TRUE(bench.hbm.seen.empty());
  EXPECT_EQ(bench.read<abi::DmaQueueStatus>().get<abi::DmaQueueStatus::Enabled>(), 0u);
}

TEST_F(DmaRing, HundredThousandCommandsNoneLostNoneDoubled) {
  bench.hbm.keep_record = bench.host.keep_record = false;
  bench.enable(16);
  std::vector<unsigned> expected(64);
  unsigned sent = 0;
  while (sent < 100'000) {
    const auto used = abi::ring_used(bench.producer, bench.read<abi::DmaConsumerIndex>().raw);
    unsigned room = abi::kRingEntries - 1 - used;
    for (; room > 0 && sent < 100'000; --room, ++sent) {
      const auto stream = static_cast<unsigned>(bench.random() % 16);
      const auto event = static_cast<unsigned>(16 + bench.random() % 48);
      ++expected[event];
      bench.push(small(sent, stream, event));
    }
    bench.ring_doorbell();
    bench.run(10_us);
  }
  bench.run(10_ms);
  for (unsigned event = 0; event < 64; ++event) {
    EXPECT_EQ(bench.event(event).count(), expected[event]) << event;
    EXPECT_EQ(bench.event_record(event).raw, expected[event]) << event;
  }
  EXPECT_EQ(bench.dma.statistics().commands, 100'000u);
  EXPECT_EQ(bench.sim.pool.in_use(), 0u);
  EXPECT_TRUE(bench.ring.idle());
}

}  // namespace
}  // namespace npu::test
