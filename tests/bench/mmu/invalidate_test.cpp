// SPDX-License-Identifier: Apache-2.0
// MMU_INVALIDATE, MMU_CONTEXT_BASE and reset: what is dropped, when, and what is waited for.
#include "mmu_bench.hpp"

namespace npu::test {
namespace {

using Invalidate = abi::MmuInvalidate;

constexpr std::uint64_t kOld = 1 * kPage, kNew = 100 * kPage;

// Pages 0 .. 3 of VMIDs 1 and 2 are mapped to `kOld` + page, and in the TLB.
class InvalidateBench : public MmuBench {
 public:
  explicit InvalidateBench(const model::ChipConfig& chip = mmu_chip_config()) : MmuBench(chip) {
    map_all(kOld);
    enable();
    for (unsigned vmid = 1; vmid <= 2; ++vmid) {
      for (unsigned page = 0; page < 4; ++page) read(vmid, page * kPage);
    }
  }
  void map_all(std::uint64_t to) {
    for (unsigned vmid = 1; vmid <= 2; ++vmid) {
      for (unsigned page = 0; page < 4; ++page) {
        tables.map(vmid, page * kPage, to + page * kPage);
      }
    }
  }
  bool uses_new(unsigned vmid, unsigned page) {
    EXPECT_EQ(read(vmid, page * kPage).completion, Completion::kSuccess);
    const bool is_new = last_address() == kNew + page * kPage;
    EXPECT_TRUE(is_new || last_address() == kOld + page * kPage);
    return is_new;
  }
  // Remaps everything and invalidates; which pages follow, as bits, VMID 1's first.
  unsigned following(std::uint32_t scope, unsigned vmid, std::uint64_t address,
                     std::uint64_t size) {
    map_all(kNew);
    invalidate(scope, vmid, address, size);
    run(1_us);
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= (uses_new(1 + i / 4, i % 4) ? 1U : 0U) << i;
    return bits;
  }
};

TEST(MmuInvalidate, WithoutItTheOldTranslationStays) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.run(1_ms);
  EXPECT_FALSE(bench.uses_new(1, 0));
}
TEST(MmuInvalidate, ScopeAll) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kAll, 7, 0, 0), 0xFFu);
}
TEST(MmuInvalidate, ScopeOfAnAddressSpace) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kVmid, 2, 0, 0), 0xF0u);
}
TEST(MmuInvalidate, ScopeOfARange) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kRange, 1, kPage, 2 * kPage), 0x06u);
}
TEST(MmuInvalidate, RangeTakesEveryPageItTouches) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kRange, 2, kPage - 1, 2), 0x30u);
}
TEST(MmuInvalidate, RangeThatOverflowsEndsWithTheAddressSpace) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kRange, 1, 3 * kPage, UINT64_MAX), 0x08u);
}
TEST(MmuInvalidate, EmptyRangeAndRangeBeyondDropNothing) {
  InvalidateBench bench;
  EXPECT_EQ(bench.following(Invalidate::kRange, 1, 0, 0), 0u);
  EXPECT_EQ(bench.following(Invalidate::kRange, 1, 1ULL << 48, kPage), 0u);
  EXPECT_EQ(bench.following(Invalidate::kVmid, 200, 0, 0), 0u);
  EXPECT_EQ(bench.mmu.statistics().invalidations, 3u);
}
TEST(MmuInvalidate, RangeInsideAGiantPageDropsIt) {
  InvalidateBench bench;
  bench.tables.map_giant(1, kGiant, kGiant);
  bench.read(1, kGiant);
  bench.tables.map_giant(1, kGiant, 0);
  bench.invalidate(Invalidate::kRange, 1, kGiant + 5 * kPage, 1);
  bench.run(1_us);
  bench.read(1, kGiant);
  EXPECT_EQ(bench.last_address(), 0u);
}

TEST(MmuInvalidate, DropsEntriesThatPointToTables) {
  auto config = mmu_chip_config();
  config.mmu.walk_cache_entries = 16;
  InvalidateBench bench(config);
  bench.tables.map_giant(1, 0, kGiant);  // instead of the level 0 table
  bench.invalidate(Invalidate::kRange, 1, 0, kGiant);
  bench.run(1_us);
  bench.read(1, kPage);
  EXPECT_EQ(bench.last_address(), kGiant + kPage);
}

TEST(MmuInvalidate, TakesItsTime) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.invalidate(Invalidate::kAll);
  EXPECT_TRUE(bench.invalidating());
  bench.run(Picoseconds(kInvalidate));  // what is due then has not happened yet
  EXPECT_TRUE(bench.invalidating());
  bench.run(1_ps);
  EXPECT_FALSE(bench.invalidating());
}

TEST(MmuInvalidate, HitsGoOnUntilTheDropAndAreWaitedFor) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.invalidate(Invalidate::kVmid, 1);
  bench.run(Picoseconds(kInvalidate));
  const auto old = bench.issue(false, 1, 0);
  bench.run(1_ps);
  const auto late = bench.issue(false, 1, 0);
  bench.run(Picoseconds(kMemoryLatency - 1));
  EXPECT_TRUE(bench.invalidating());
  bench.run(1_ps);
  EXPECT_TRUE(bench.answered(old));
  EXPECT_FALSE(bench.invalidating()) << "accesses translated later do not matter";
  bench.run(10_us);
  EXPECT_EQ(bench.response(late).completion, Completion::kSuccess);
  EXPECT_EQ(bench.last_address(), kNew);
}

TEST(MmuInvalidate, WaitsForItsOwnAddressSpaceOnly) {
  InvalidateBench bench;
  bench.memory0.answer = false;
  bench.issue(false, 2, 0);
  bench.issue(false, 0, 0);
  bench.invalidate(Invalidate::kRange, 1, 0, kPage);
  bench.run(Picoseconds(kInvalidate + 1));
  EXPECT_FALSE(bench.invalidating());
  bench.invalidate(Invalidate::kAll);
  bench.run(10_us);
  EXPECT_TRUE(bench.invalidating());
  bench.memory0.answer_kept();
  EXPECT_FALSE(bench.invalidating());
}

TEST(MmuInvalidate, WaitsForWhoHasNotMovedItsBytesYet) {
  InvalidateBench bench;
  const auto before = bench.mmu.memory().hold(1), other = bench.mmu.memory().hold(2);
  bench.invalidate(Invalidate::kRange, 1, 0, kPage);
  bench.run(10_us);
  const auto late = bench.mmu.memory().hold(1);
  EXPECT_TRUE(bench.invalidating());
  bench.mmu.memory().release(before);
  EXPECT_FALSE(bench.invalidating()) << "who came later, or is of another space, does not matter";
  bench.mmu.memory().release(late);
  bench.mmu.memory().release(other);
  bench.invalidate(Invalidate::kAll);
  bench.run(1_us);
  EXPECT_FALSE(bench.invalidating());
}

TEST(MmuInvalidate, DeviceLocalAddressesAreNotHeld) {
  InvalidateBench bench;
  bench.mmu.memory().hold(0);
  bench.invalidate(Invalidate::kAll);
  bench.run(1_us);
  EXPECT_FALSE(bench.invalidating());
}

TEST(MmuInvalidate, WriteWhileOneIsInFlightIsIgnored) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.invalidate(Invalidate::kVmid, 1);
  bench.invalidate(Invalidate::kVmid, 2);
  EXPECT_EQ(bench.read<Invalidate>().get<Invalidate::Vmid>(), 1u);
  bench.write(Invalidate{});
  EXPECT_TRUE(bench.invalidating());
  bench.run(1_us);
  EXPECT_FALSE(bench.invalidating());
  EXPECT_TRUE(bench.uses_new(1, 0));
  EXPECT_FALSE(bench.uses_new(2, 0));
  EXPECT_EQ(bench.mmu.statistics().invalidations, 1u);
}

TEST(MmuInvalidate, WithoutStartNothingHappens) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.write(Invalidate{});
  bench.run(1_us);
  EXPECT_FALSE(bench.uses_new(1, 0));
}

// A walk that began `after` the walk's start is hit by an invalidation; the table has changed.
void race(SimTime after) {
  InvalidateBench bench;
  bench.tables.map(1, 8 * kPage, kOld);
  const auto begin = model::sim_now();
  bench.issue(false, 1, 8 * kPage);
  bench.run(Picoseconds(after));
  bench.tables.map(1, 8 * kPage, kNew);
  bench.invalidate(Invalidate::kRange, 1, 8 * kPage, kPage);
  bench.run(10_us);
  EXPECT_EQ(bench.last_address(), kNew) << after;
  EXPECT_GT(bench.responses.back().when - begin, 4 * kPerEntry + kMemoryLatency);
  bench.read(1, 8 * kPage);
  EXPECT_EQ(bench.last_address(), kNew) << "nothing old was kept";
}

TEST(MmuInvalidate, WalkThatHasReadTheOldEntryStartsAnew) {
  // The drop comes 1 ps before the lowest entry's bytes arrive: they are the old ones.
  race(4 * kPerEntry - kInvalidate - 1);
}
TEST(MmuInvalidate, WalkBetweenTwoReadsStartsAnew) {
  race(2 * kPerEntry + 1'000 - kInvalidate);
}

TEST(MmuInvalidate, WalkThatStartsAnewIsOneWalkThatBeganAtAKnownTable) {
  auto config = mmu_chip_config();
  config.mmu.walk_cache_entries = 16;
  InvalidateBench bench(config);
  bench.tables.map(1, 8 * kPage, kOld);
  const auto before = bench.mmu.statistics();
  const auto begin = model::sim_now();
  const auto id = bench.issue(false, 1, 8 * kPage);
  bench.invalidate(Invalidate::kRange, 1, kGiant, kPage);  // not below the table page 8 is in
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).when - begin, 2 * kPerEntry + kMemoryLatency) << "read twice";
  EXPECT_EQ(bench.mmu.statistics().walks - before.walks, 1u);
  EXPECT_EQ(bench.mmu.statistics().walk_cache_hits - before.walk_cache_hits, 1u);
}

TEST(MmuInvalidate, WalksOfOtherAddressSpacesGoOn) {
  InvalidateBench bench;
  bench.tables.map(1, 8 * kPage, kOld);
  const auto begin = model::sim_now();
  const auto id = bench.issue(false, 1, 8 * kPage);
  bench.run(100_ns);
  bench.invalidate(Invalidate::kVmid, 2);
  bench.run(10_us);
  EXPECT_EQ(bench.response(id).when - begin, 4 * kPerEntry + kMemoryLatency);
}

TEST(MmuContextBase, WritingItDropsEverythingAtOnce) {
  InvalidateBench bench;
  bench.map_all(kNew);
  bench.write(abi::MmuContextBase::from_raw(kContext));
  EXPECT_TRUE(bench.uses_new(1, 0));
  EXPECT_TRUE(bench.uses_new(2, 3));
}

}  // namespace
}  // namespace npu::test
