// SPDX-License-Identifier: Apache-2.0
// What stands between a device's request and host memory: pages, IOTLB, walks, the node's bus.
#include "tests/bench/host/host_bench.hpp"

namespace npu::test {
namespace {

using model::DmaPages;
using model::IommuPage;
using model::Iotlb;
using model::MemoryBus;

constexpr std::uint64_t kLookup = 15'000, kLevel = 90'000;

TEST(DmaPages, TheLargestThatFitsMapsEachPlace) {
  const DmaPages pages(2_MiB);
  EXPECT_EQ(pages.size_at(2_MiB, 2_MiB, 2_MiB), 2_MiB);
  EXPECT_EQ(pages.size_at(2_MiB, 2_MiB, 2_MiB - 4_KiB), 4_KiB);  // too short
  EXPECT_EQ(pages.size_at(2_MiB, 4_KiB, 4_MiB - 4_KiB), 2_MiB);  // behind the first boundary
  EXPECT_EQ(pages.size_at(4_KiB, 4_KiB, 4_MiB - 4_KiB), 4_KiB);
  EXPECT_EQ(pages.count(2_MiB, 4_MiB + 4_KiB), 3U);
  EXPECT_EQ(pages.count(4_KiB, 4_MiB), 511U + 1 + 1);
  EXPECT_EQ(DmaPages(4_KiB).count(0, 4_MiB), 1024U);
  EXPECT_EQ(DmaPages(1_GiB).count(0, 1_GiB + 2_MiB + 4_KiB), 3U);
}

TEST(DmaPages, ALargerPageIsFoundThroughFewerTables) {
  EXPECT_EQ(DmaPages::levels(4_KiB), 4U);
  EXPECT_EQ(DmaPages::levels(2_MiB), 3U);
  EXPECT_EQ(DmaPages::levels(1_GiB), 2U);
  EXPECT_EQ(DmaPages(1_GiB).alignment(3_MiB), 2_MiB);
  EXPECT_EQ(DmaPages(1_GiB).alignment(8_KiB), 4_KiB);
  EXPECT_EQ(DmaPages(4_KiB).alignment(1_GiB), 4_KiB);
}

TEST(Iotlb, ForgetsWhatWasUsedLeastRecently) {
  Iotlb tlb(2);
  const IommuPage a{1, 0, 4_KiB}, b{1, 4_KiB, 4_KiB}, c{2, 0, 4_KiB};
  tlb.insert(a, 10);
  tlb.insert(b, 20);
  ASSERT_NE(tlb.find(a), nullptr);
  tlb.insert(c, 30);
  EXPECT_EQ(tlb.find(b), nullptr);
  ASSERT_NE(tlb.find(a), nullptr);
  EXPECT_EQ(*tlb.find(a), 10U);
  ASSERT_NE(tlb.find(c), nullptr);
}

TEST(Iotlb, DropsTheFunctionsPagesThatARangeMeetsAndNoOthers) {
  Iotlb tlb(8);
  const IommuPage below{1, 0, 4_KiB}, large{1, 2_MiB, 2_MiB}, above{1, 4_MiB, 4_KiB};
  const IommuPage others{2, 2_MiB, 2_MiB};
  for (const auto& page : {below, large, above, others}) tlb.insert(page, 1);
  tlb.drop(1, 3_MiB, 64);
  EXPECT_EQ(tlb.find(large), nullptr);
  for (const auto& page : {below, above, others}) EXPECT_NE(tlb.find(page), nullptr);
}

TEST(MemoryBus, OneIsServedBehindTheOtherAtTheRate) {
  MemoryBus bus(100'000'000'000);
  EXPECT_EQ(bus.take(1'000, 4'000), 0U);  // 40 ns
  EXPECT_EQ(bus.take(1'000, 4'000), 40'000U);
  EXPECT_EQ(bus.take(61'000, 64), 20'000U);
  EXPECT_EQ(bus.take(200'000, 64), 0U);
  EXPECT_EQ(bus.moved(), 8'128U);
}

TEST(MemoryBus, PartsOfAPicosecondAreNotLost) {
  MemoryBus bus(3'000'000'000'000);  // a byte in a third of a picosecond
  for (int i = 0; i < 3'000; ++i) bus.take(0, 1);
  EXPECT_EQ(bus.free_at(), 1'000U);
}

class Walker : public testing::Test {
 protected:
  static IommuPage page(std::uint64_t index, Bytes size = 4_KiB) {
    return {kRequester, index * size, size};
  }
  std::uint64_t walk(const IommuPage& page) { return walker_.translate(page, 0); }

  HostBench bench_;
  model::NumaMemory memory_{memory_config()};
  model::IommuWalker walker_{memory_config(), memory_};
};

TEST_F(Walker, ReadsATablePerLevel) {
  EXPECT_EQ(walk(page(0)), 4 * kLevel);
  EXPECT_EQ(walk(page(1, 2_MiB)), 3 * kLevel);
  EXPECT_EQ(walker_.misses(), 2U);
  EXPECT_EQ(memory_.bus(0).moved(), 7 * 64U);
}

TEST_F(Walker, WhoComesMeanwhileWaitsForTheSameWalk) {
  EXPECT_EQ(walk(page(0)), 4 * kLevel);
  EXPECT_EQ(walk(page(0)), 4 * kLevel);
  EXPECT_EQ(walker_.misses(), 1U);
  bench_.run([&] {
    bench_.clock().sleep_until(bench_.clock().now() + 1_us);
    EXPECT_EQ(walk(page(0)), 0U);
  });
  EXPECT_EQ(walker_.hits(), 2U);
}

TEST_F(Walker, AsManyWalksAtOnceAsThereAreWalkers) {
  EXPECT_EQ(walk(page(0)), 4 * kLevel);
  EXPECT_EQ(walk(page(1)), 4 * kLevel);
  EXPECT_EQ(walk(page(2)), 8 * kLevel);
  EXPECT_EQ(walk(page(3)), 8 * kLevel);
}

TEST_F(Walker, BeginsWhenTheBusAndAWalkerAreFree) {
  memory_.take(0, 100'000);  // 1 us
  // Behind the look-up or the bus, whichever ends later; who waits for a walker does not wait
  // twice.
  EXPECT_EQ(walk(page(0)), 1'000'000 - kLookup + 4 * kLevel);
  EXPECT_EQ(walk(page(1)), 1'002'560 - kLookup + 4 * kLevel);
  EXPECT_EQ(walk(page(2)), 1'000'000 - kLookup + 8 * kLevel);
}

TEST_F(Walker, AnInvalidatedPageIsWalkedForAgain) {
  walk(page(0));
  walker_.invalidate(kRequester, 0, 4_KiB);
  walk(page(0));
  EXPECT_EQ(walker_.misses(), 2U);
}

}  // namespace
}  // namespace npu::test
