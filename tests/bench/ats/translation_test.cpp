// SPDX-License-Identifier: Apache-2.0
// Translations that are asked for, kept, and asked for again.
#include "tests/bench/ats/ats_bench.hpp"

namespace npu::test {
namespace {

TEST(AtsTranslation, IsAskedForOnceForAPage) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  for (const std::uint64_t offset : {0x0, 0x40, 0x1F'FFFF}) {
    EXPECT_EQ(bench.read(kVirtual + offset).completion, Completion::kSuccess);
  }
  ASSERT_EQ(bench.host.translations.size(), 1U);
  EXPECT_EQ(bench.host.translations[0], std::make_pair(kVirtual, true)) << "to be read alone";
  ASSERT_EQ(bench.host.pieces.size(), 3U);
  EXPECT_TRUE(bench.host.pieces[2].translated);
  EXPECT_EQ(bench.host.pieces[2].address, kVirtual + 0x1F'FFFF);
  EXPECT_TRUE(bench.memory(0).seen.empty());
}

TEST(AtsTranslation, TakesAsLongAsTheHostDoes) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  const auto begin = model::sim_now();
  const auto answer = bench.read(kVirtual);
  const SimTime walk = bench.entries_read() * kPerEntry;
  EXPECT_EQ(answer.when - begin, walk + HostSide::kTranslation + HostSide::kRead);
}

TEST(AtsTranslation, ForAWriteIsAnother) {
  AtsBench bench;
  bench.host.pages[kVirtual].write = true;
  bench.read(kVirtual);
  EXPECT_EQ(bench.store(kVirtual).completion, Completion::kSuccess);
  EXPECT_EQ(bench.store(kVirtual + 64).completion, Completion::kSuccess);
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kSuccess);
  ASSERT_EQ(bench.host.translations.size(), 2U);
  EXPECT_FALSE(bench.host.translations[1].second);
}

TEST(AtsTranslation, IsNotUsedWhereTheCardsTablesSaySomething) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  bench.tables.map(kShared, kVirtual, 4 * kPage);
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kSuccess);
  EXPECT_TRUE(bench.host.translations.empty());
  EXPECT_EQ(bench.last_address(), 4 * kPage);
}

TEST(AtsTranslation, OfLessThanAPageIsNone) {
  AtsBench bench;
  bench.host.pages[kVirtual].mapped = kPage - 4096;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kNotMapped);
  EXPECT_TRUE(bench.host.asked.empty());
}

TEST(AtsTranslation, IsForSpacesThatShare) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  EXPECT_EQ(bench.access(false, kShared + 1, kVirtual).completion, Completion::kNotMapped);
  EXPECT_TRUE(bench.host.translations.empty());
}

TEST(AtsTranslation, IsNotAskedForWithoutLeave) {
  AtsBench bench;
  bench.host.pages[kVirtual];
  bench.host.enabled = false;
  EXPECT_EQ(bench.read(kVirtual).completion, Completion::kNotMapped);
  EXPECT_TRUE(bench.host.translations.empty());
}

TEST(AtsTranslation, OfACardWithoutItIsNever) {
  auto config = ats_chip();
  config.mmu.fault_policy = model::PageFaultPolicy::kBatch;
  MmuBench bench(config, sc_core::sc_gen_unique_name("bench"));
  model::HostPages pages{"other", bench.sim, config, "ats", bench.mmu};
  pages.share(kShared, HostSide::kPasid);
  EXPECT_FALSE(pages.shares(kShared));
}

}  // namespace
}  // namespace npu::test
