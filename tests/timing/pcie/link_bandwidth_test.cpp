// SPDX-License-Identifier: Apache-2.0
// The bandwidth DMA gets through endpoint, link and root complex.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr unsigned kChunk = 4096;
constexpr unsigned kChunks = 200;
constexpr std::uint64_t kTrain = 16 * (8 + 16 + 4 + 256);  // a 4 KiB write above 4 GiB

// Time between the first and the last of kChunks writes becoming visible.
std::uint64_t write_span(const model::LinkConfig& link) {
  auto config = one_card();
  config.cards[0].link = link;
  PcieBench bench(config);
  bench.run([&] {
    bench.enable_bus_master();
    for (unsigned i = 0; i < kChunks; ++i) {
      bench.chip().write(StandInHostMemory::kBase + i * kChunk, std::vector<unsigned char>(kChunk));
    }
  });
  EXPECT_EQ(bench.memory.writes.size(), kChunks);
  return bench.memory.writes.back().when - bench.memory.writes.front().when;
}

TEST(LinkBandwidth, StreamedWritesRunAtTheWireRateLessTlpOverhead) {
  const std::uint64_t train = (kTrain * 65'000 + 2047) / 2048;
  EXPECT_EQ(write_span(link_config()), (kChunks - 1) * train);
}

TEST(LinkBandwidth, HalfTheLanesTakeTwiceTheTime) {
  auto narrow = link_config();
  narrow.lanes = 8;
  const std::uint64_t train = (kTrain * 65'000 + 1023) / 1024;
  EXPECT_EQ(write_span(narrow), (kChunks - 1) * train);
}

TEST(LinkBandwidth, EarlierGenerationIsSlowerByItsRate) {
  auto slow = link_config();
  slow.generation = 3;
  const std::uint64_t train = (kTrain * 130'000 + 2047) / 2048;
  EXPECT_EQ(write_span(slow), (kChunks - 1) * train);
}

TEST(LinkBandwidth, ReadsReachTheCompletionRateWithEnoughOutstanding) {
  PcieBench bench;
  bench.run([&] {
    bench.enable_bus_master();
    for (unsigned i = 0; i < kChunks; ++i) {
      bench.chip().read(StandInHostMemory::kBase + i * kChunk, kChunk);
    }
  });
  ASSERT_EQ(bench.chip().answers.size(), kChunks);
  const std::uint64_t train = (16 * (8 + 12 + 4 + 256) * 65'000ULL + 2047) / 2048;
  EXPECT_EQ(bench.chip().answers.back().when - bench.chip().answers.front().when,
            (kChunks - 1) * train);
}

TEST(LinkBandwidth, StatisticsNameTheOverhead) {
  PcieBench bench;
  model::LinkStatistics seen;
  bench.run([&] {
    bench.enable_bus_master();
    const auto before = bench.fabric.link(0).upstream_statistics();
    bench.chip().write(StandInHostMemory::kBase, std::vector<unsigned char>(kChunk));
    bench.wait(1_us);
    seen = bench.fabric.link(0).upstream_statistics() - before;
  });
  EXPECT_EQ(seen.payload_bytes, kChunk);
  EXPECT_EQ(seen.header_bytes, 16U * (8 + 16));
  EXPECT_EQ(seen.dllp_bytes, 16U * 4);
  EXPECT_EQ(seen.busy, (kTrain * 65'000 + 2047) / 2048);
}

}  // namespace
}  // namespace npu::test
