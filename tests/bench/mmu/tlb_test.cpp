// SPDX-License-Identifier: Apache-2.0
// What is kept, and what has to go. Misses show as reads of the walker: four per small page.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

// 16 entries in 4 sets of 4: pages whose numbers differ by a multiple of 4 share a set.
constexpr unsigned kEntries = 16, kSets = 4, kWays = 4;

class TlbBench : public MmuBench {
 public:
  explicit TlbBench(const model::ChipConfig& chip = mmu_chip_config()) : MmuBench(chip) {
    for (unsigned page = 0; page < 64; ++page) tables.map(1, page * kPage, page * kPage);
    enable();
  }
  // Walker reads that an access to `page` costs.
  std::size_t cost(unsigned page, unsigned vmid = 1) {
    const auto before = entries_read();
    EXPECT_EQ(access(false, vmid, page * kPage).completion, Completion::kSuccess);
    return entries_read() - before;
  }
  std::size_t sweep(unsigned pages) {
    std::size_t sum = 0;
    for (unsigned page = 0; page < pages; ++page) sum += cost(page);
    return sum;
  }
};

using MmuTlb = OnBench<TlbBench>;

TEST_F(MmuTlb, HoldsAsManyPagesAsItHasEntries) {
  EXPECT_EQ(bench.sweep(kEntries), 4 * kEntries);
  EXPECT_EQ(bench.sweep(kEntries), 0u);
  EXPECT_EQ(bench.mmu.statistics().hits, kEntries);
  EXPECT_EQ(bench.mmu.statistics().misses, kEntries);
}

TEST_F(MmuTlb, SweepOfOneSetTooManyMissesThereAlways) {
  bench.sweep(kEntries + 1);
  // Pages 0, 4, 8, 12 and 16 go round in a set of four.
  EXPECT_EQ(bench.sweep(kEntries + 1), 4 * (kWays + 1));
}

TEST_F(MmuTlb, TheLeastRecentlyUsedOfASetGoes) {
  for (unsigned way = 0; way < kWays; ++way) bench.cost(way * kSets);
  bench.cost(0);
  bench.cost(0);  // the client's last page counts as used, too
  bench.cost(kWays * kSets);
  EXPECT_EQ(bench.cost(0), 0u);
  EXPECT_EQ(bench.cost(2 * kSets), 0u);
  EXPECT_EQ(bench.cost(1 * kSets), 4u) << "page 4 was the oldest";
}

TEST_F(MmuTlb, LastPageOfAClientIsNoFurtherEntry) {
  bench.cost(0);
  for (unsigned way = 1; way <= kWays; ++way) {
    bench.access(false, 1, way * kSets * kPage, 1);  // the other client's
  }
  EXPECT_EQ(bench.cost(0), 4u);
}

TEST_F(MmuTlb, GiantPageTakesOneEntry) {
  bench.tables.map_giant(1, 4 * kGiant, kGiant);
  bench.sweep(kEntries - kSets);
  EXPECT_EQ(bench.cost(4 * 512), 3u);
  EXPECT_EQ(bench.cost(4 * 512 + 511), 0u);
  EXPECT_EQ(bench.sweep(kEntries - kSets), 0u);
}

TEST_F(MmuTlb, AddressSpacesWithTheSameFewPagesFitTogether) {
  for (unsigned vmid = 1; vmid <= kEntries / 2; ++vmid) bench.tables.map(vmid, 0, kPage);
  for (unsigned vmid = 1; vmid <= kEntries / 2; ++vmid) EXPECT_EQ(bench.cost(0, vmid), 4u);
  for (unsigned vmid = 1; vmid <= kEntries / 2; ++vmid) EXPECT_EQ(bench.cost(0, vmid), 0u);
}

model::ChipConfig with_walk_cache(unsigned entries) {
  auto config = mmu_chip_config();
  config.mmu.walk_cache_entries = entries;
  return config;
}

TEST(MmuWalkCache, LeavesTheLastReadOnly) {
  TlbBench bench(with_walk_cache(8));
  bench.tables.map(1, 1 * kGiant, 7 * kPage);
  EXPECT_EQ(bench.cost(0), 4u);
  EXPECT_EQ(bench.cost(1), 1u);
  EXPECT_EQ(bench.cost(512), 2u) << "another level 0 table of the same level 1 table";
  EXPECT_EQ(bench.last_address(), 7 * kPage);
  EXPECT_EQ(bench.mmu.statistics().walk_cache_hits, 2u);
}

TEST(MmuWalkCache, KeepsTheContextEntryOfEachSpaceApart) {
  TlbBench bench(with_walk_cache(8));
  bench.tables.map(1, 1ULL << 40, 3 * kPage);
  bench.tables.map(2, 0, 2 * kPage);
  bench.cost(0);
  EXPECT_EQ(bench.cost(0, 2), 4u);
  EXPECT_EQ(bench.cost(1U << (40 - 21)), 3u) << "only the context entry helps";
  EXPECT_EQ(bench.last_address(), 3 * kPage);
}

TEST(MmuWalkCache, TheLeastRecentlyUsedEntryGoes) {
  TlbBench bench(with_walk_cache(3));  // as much as one walk brings
  bench.tables.map(2, 0, kPage);
  bench.cost(0);
  EXPECT_EQ(bench.cost(0, 2), 4u);
  EXPECT_EQ(bench.cost(1), 4u) << "the other space's entries took all places";
}

TEST(MmuWalkCache, EntryThatPointsBeyondMemoryIsNotKept) {
  TlbBench bench(with_walk_cache(8));
  bench.tables.set(1, 0, 1, abi::PageTableEntry::table(kInstalled).raw);
  EXPECT_EQ(bench.read(1, 0).completion, Completion::kBadTable);
  bench.tables.map_giant(1, 0, kGiant);
  EXPECT_EQ(bench.cost(3), 1u);
  EXPECT_EQ(bench.last_address(), kGiant + 3 * kPage);
}

}  // namespace
}  // namespace npu::test
