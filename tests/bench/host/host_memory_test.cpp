// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

using model::Completion;
using model::SimTime;
using HostMemory = OnBench<HostBench>;

TEST_F(HostMemory, IsZeroedAlignedAndReachableOnlyByItsDevice) {
  const auto m =
      bench.memory.map(kRequester, 10'000, 64_KiB, platform::DmaDirection::kBidirectional, 0);
  EXPECT_EQ(m.bus % 64_KiB, 0U);
  EXPECT_EQ(m.memory.data[9'999], std::byte{0});
  const auto mine = bench.memory.access(kRequester, m.bus + 100, 64, false, 0);
  const auto other = bench.memory.access(kRequester + 8, m.bus + 100, 64, false, 0);
  EXPECT_EQ(mine.status, Completion::kSuccess);
  EXPECT_EQ(mine.data, m.memory.data + 100);
  EXPECT_EQ(other.status, Completion::kUnsupportedRequest);
  EXPECT_EQ(other.data, nullptr);
}

TEST_F(HostMemory, RefusesTheWrongDirectionWithAFaultRecord) {
  const auto m = bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kDeviceReads, 0);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus, 8, false, 0).status, Completion::kSuccess);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus, 8, true, 0).status, Completion::kPermission);
  ASSERT_EQ(bench.memory.faults().faults().size(), 1U);
  EXPECT_EQ(bench.memory.faults().faults()[0].bus, m.bus);
  EXPECT_TRUE(bench.memory.faults().faults()[0].device_writes);
}

TEST_F(HostMemory, RefusesToCrossTheEndOfAMappingAndAfterUnmap) {
  const auto m =
      bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
  bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus + 4090, 6, true, 0).status, Completion::kSuccess);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus + 4090, 7, true, 0).status,
            Completion::kUnsupportedRequest);
  bench.memory.unmap(kRequester, m.bus, 4096);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus, 8, true, 0).status,
            Completion::kUnsupportedRequest);
}

TEST_F(HostMemory, RetiredPagesAreThereForTranslatedWritesUntilUnmapped) {
  const auto m =
      bench.memory.map(kRequester, 16_KiB, 4096, platform::DmaDirection::kBidirectional, 0);
  const model::DmaRequester translated{kRequester, 0, true};
  bench.memory.retire(kRequester, m.bus + 4_KiB, 8_KiB);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus + 4_KiB, 8, true, 0).status,
            Completion::kUnsupportedRequest);
  for (Bytes page = 0; page < 16_KiB; page += 4_KiB) {
    const auto write = bench.memory.access(translated, m.bus + page, 4096, true, 0);
    EXPECT_EQ(write.status, Completion::kSuccess) << page;
    EXPECT_EQ(write.data, m.memory.data + page);
  }
  EXPECT_EQ(bench.memory.access(kRequester, m.bus + 12_KiB, 8, true, 0).status,
            Completion::kSuccess);
  bench.memory.unmap(kRequester, m.bus + 4_KiB, 8_KiB);
  EXPECT_EQ(bench.memory.access(translated, m.bus + 8_KiB, 8, true, 0).status,
            Completion::kUnsupportedRequest);
  EXPECT_EQ(bench.memory.access(kRequester, m.bus, 8, true, 0).status, Completion::kSuccess);
}

TEST_F(HostMemory, EveryFunctionHasAnAddressSpaceOfItsOwn) {
  std::array<std::byte, 2 * 4096> memory{};
  const auto direction = platform::DmaDirection::kBidirectional;
  ASSERT_TRUE(bench.memory.map_at(kRequester, 0x1000, {memory.data(), 4096}, direction));
  ASSERT_TRUE(bench.memory.map_at(kRequester + 8, 0x1000, {memory.data() + 4096, 4096}, direction));
  EXPECT_EQ(bench.memory.access(kRequester, 0x1010, 8, true, 0).data, memory.data() + 0x10);
  EXPECT_EQ(bench.memory.access(kRequester + 8, 0x1010, 8, true, 0).data, memory.data() + 0x1010);
  bench.memory.unmap(kRequester, 0x1000, 4096);
  EXPECT_EQ(bench.memory.access(kRequester, 0x1010, 8, true, 0).data, nullptr);
  EXPECT_EQ(bench.memory.access(kRequester + 8, 0x1010, 8, true, 0).data, memory.data() + 0x1010);
}

TEST_F(HostMemory, APasidReachesTheMappingsBoundToItAlone) {
  const auto own =
      bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
  const auto unbound =
      bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
  bench.memory.iommu().bind(kRequester, own.bus, 7);
  const auto status = [&](std::uint64_t bus, std::uint32_t pasid) {
    return bench.memory.access({kRequester, pasid}, bus, 8, true, 0).status;
  };
  EXPECT_EQ(status(own.bus, 7), Completion::kSuccess);
  EXPECT_EQ(status(own.bus, 8), Completion::kUnsupportedRequest);
  EXPECT_EQ(status(unbound.bus, 7), Completion::kUnsupportedRequest);
  EXPECT_EQ(status(own.bus, 0), Completion::kSuccess) << "the driver's own requests carry none";
  ASSERT_EQ(bench.memory.faults().faults().size(), 2U);
  EXPECT_EQ(bench.memory.faults().faults()[0].pasid, 8U);
}

TEST_F(HostMemory, OfAnotherNodeIsFartherAway) {
  const auto near =
      bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
  const auto far =
      bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 1);
  const auto latency = [&](std::uint64_t bus, bool writes) {
    return bench.memory.access(kRequester, bus, 64, writes, 0).latency;
  };
  bench.run([&] {
    latency(near.bus, false);  // walks
    latency(far.bus, false);
    bench.clock().sleep_until(bench.clock().now() + 10_us);
    EXPECT_EQ(latency(near.bus, false), 15_ns + 90_ns);
    bench.clock().sleep_until(bench.clock().now() + 10_us);
    EXPECT_EQ(latency(near.bus, true), 15_ns + 60_ns);
    bench.clock().sleep_until(bench.clock().now() + 10_us);
    EXPECT_EQ(latency(far.bus, false), 15_ns + 90_ns + 70_ns);
  });
}

TEST_F(HostMemory, IsFreedWhenTheFunctionHasInvalidatedIt) {
  SimTime begin = 0, end = 0;
  bench.run([&] {
    auto memory = static_cast<platform::Platform&>(bench.platform)
                      .allocate_dma(platform::Bdf::unpack(kRequester), 4096, 4096,
                                    platform::DmaDirection::kBidirectional);
    begin = model::sim_now();
    memory->reset();
    end = model::sim_now();
  });
  // The call, the function's answer; then a page is unmapped, the IOTLB told and the page unpinned.
  EXPECT_EQ(end - begin, 300'000 + FarEnd::kRoundTrip + 150'000 + 700'000 + 60'000);
  EXPECT_EQ(bench.memory.memory().used(0), 0U);
}

TEST_F(HostMemory, OfAFunctionWithoutAtsIsFreedAtOnce) {
  SimTime begin = 0, end = 0;
  bench.run([&] {
    const auto m =
        bench.memory.map(kRequester + 1, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
    begin = model::sim_now();
    bench.platform.unmap(kRequester + 1, m.bus, 4096);
    end = model::sim_now();
  });
  EXPECT_EQ(end, begin);
}

TEST_F(HostMemory, TellsOfAnInvalidationThatNobodyAnswered) {
  bench.far_end.completion = Completion::kTimeout;
  std::uint64_t bus = 0;
  bench.run([&] {
    const auto m =
        bench.memory.map(kRequester, 4096, 4096, platform::DmaDirection::kBidirectional, 0);
    bus = m.bus;
    bench.platform.unmap(kRequester, bus, 4096);
  });
  ASSERT_EQ(bench.memory.faults().faults().size(), 1U);
  EXPECT_EQ(bench.memory.faults().faults()[0].reason, Completion::kTimeout);
  EXPECT_EQ(bench.memory.faults().faults()[0].bus, bus);
  EXPECT_EQ(bench.memory.access({kRequester, 0, true}, bus, 8, true, 0).status,
            Completion::kUnsupportedRequest);
}

}  // namespace
}  // namespace npu::test
