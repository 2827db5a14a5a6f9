// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

constexpr platform::Bdf kCard{1, 0, 0};

std::unique_ptr<platform::MmioRegion> map(HostBench& bench, platform::Caching caching) {
  return *bench.platform.map_bar(kCard, 0, 0, 32_KiB, caching);
}

using Mmio = OnBench<HostBench>;

TEST_F(Mmio, AnUncachedStoreLeavesAfterItsCpuTime) {
  std::uint64_t start = 0;
  bench.run([&] {
    const auto region = map(bench, platform::Caching::kUncached);
    start = bench.cpus.local_now();
    region->write32(0x1010, 7);
    region->write64(0x1020, 0x1122334455667788);
  });
  ASSERT_EQ(bench.far_end.writes.size(), 2U);
  EXPECT_EQ(bench.far_end.writes[0].when, start + 30'000);
  EXPECT_EQ(bench.far_end.writes[1].when, start + 60'000);
  EXPECT_EQ(bench.far_end.writes[0].address, 0x8000'1010U);
  EXPECT_EQ(bench.far_end.writes[1].bytes.size(), 8U);
  EXPECT_EQ(bench.far_end.writes[1].bytes[0], 0x88U);
}

TEST_F(Mmio, CombinedStoresLeaveAsOneAtTheEndOfTheBarrier) {
  std::uint64_t start = 0;
  bench.run([&] {
    const auto region = map(bench, platform::Caching::kWriteCombining);
    start = bench.cpus.local_now();
    for (unsigned i = 0; i < 4; ++i) region->write64(0x40 + 8 * i, i);
    bench.platform.write_barrier();
  });
  ASSERT_EQ(bench.far_end.writes.size(), 1U);
  EXPECT_EQ(bench.far_end.writes[0].when, start + 4 * 2'000 + 20'000);
  EXPECT_EQ(bench.far_end.writes[0].bytes.size(), 32U);
}

TEST_F(Mmio, CombiningStopsAtGapsAndLineBorders) {
  bench.run([&] {
    const auto region = map(bench, platform::Caching::kWriteCombining);
    region->write64(0x38, 1);
    region->write64(0x40, 2);  // next line
    region->write64(0x50, 3);  // gap
    bench.platform.write_barrier();
  });
  ASSERT_EQ(bench.far_end.writes.size(), 3U);
  EXPECT_EQ(bench.far_end.writes[1].address, 0x8000'0040U);
}

TEST_F(Mmio, AnUncachedAccessDrainsTheCombiningBufferFirst) {
  bench.run([&] {
    const auto combining = map(bench, platform::Caching::kWriteCombining);
    const auto uncached = map(bench, platform::Caching::kUncached);
    combining->write64(0x40, 1);
    uncached->write32(0x1010, 2);
  });
  ASSERT_EQ(bench.far_end.writes.size(), 2U);
  EXPECT_EQ(bench.far_end.writes[0].address, 0x8000'0040U);
}

TEST_F(Mmio, ALoadStallsForTheRoundTrip) {
  bench.run([&] {
    const auto region = map(bench, platform::Caching::kUncached);
    const auto before = bench.cpus.local_now();
    EXPECT_EQ(region->read32(0), 0xA5A5A5A5U);
    EXPECT_EQ(bench.cpus.local_now() - before, 10'000 + FarEnd::kRoundTrip);
  });
}

TEST_F(Mmio, MappingsThatDoNotFitAreRefused) {
  bench.run([&] {
    const auto code = [&](unsigned bar, Bytes offset, Bytes size) {
      return bench.platform.map_bar(kCard, bar, offset, size, platform::Caching::kUncached)
          .error()
          .code;
    };
    EXPECT_EQ(code(1, 0, 4096), ErrorCode::kNotFound);
    EXPECT_EQ(code(0, 100, 4096), ErrorCode::kMisaligned);
    EXPECT_EQ(code(0, 0, 0), ErrorCode::kMisaligned);
    EXPECT_EQ(code(0, 32_KiB, 4096), ErrorCode::kOutOfRange);
    EXPECT_EQ(code(0, 4096, UINT64_MAX - 4095), ErrorCode::kOutOfRange);
  });
}

}  // namespace
}  // namespace npu::test
