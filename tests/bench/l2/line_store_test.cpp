// SPDX-License-Identifier: Apache-2.0
#include "model/l2/line_store.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "l2_bench.hpp"

namespace npu::test {
namespace {

using model::LineStore;

model::L2Config card_l2() {
  auto config = small_l2();
  config.size = 192_MiB;
  config.ways = 12;
  config.slices = 32;
  return config;
}

TEST(LineStore, EntriesGiveTheirLinesBack) {
  LineStore store(card_l2());
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 10'000; ++i) {
    const model::Line line = random() % (64_GiB / kLine);
    const model::Line other = random() % (64_GiB / kLine);
    const auto block = store.block_of(line);
    const unsigned slice = store.slice_of(block, line);
    EXPECT_EQ(store.line_of(block, slice, block.key), line);
    // Any block of the same set gives the same line.
    const auto beside = store.block_of(other);
    if (beside.sets != block.sets) continue;
    EXPECT_EQ(store.line_of(beside, slice, block.key), line);
  }
}

TEST(LineStore, ClearingAPartLeavesTheLinesBesideItAndThoseBeingFilled) {
  LineStore store(card_l2());
  const auto entry_of = [&store](model::Line line) {
    const auto block = store.block_of(line);
    auto* const set = store.set_of(block, store.slice_of(block, line));
    const unsigned way = store.find(set, block);
    return way == store.ways() ? nullptr : set + way;
  };
  for (model::Line line = 1000; line < 3000; ++line) {
    const auto block = store.block_of(line);
    const auto filling = line % 7 == 0 ? LineStore::kFilling : 0;
    auto* const set = store.set_of(block, store.slice_of(block, line));
    LineStore::use(set, store.victim(set), block.key | filling);
  }
  store.clear(1500, 2499);
  for (model::Line line = 1000; line < 3000; ++line) {
    const bool beside = line < 1500 || line > 2499;
    EXPECT_EQ(entry_of(line) != nullptr, beside || line % 7 == 0) << line;
  }
}

TEST(LineStore, AlignedBlocksAndStridesSpreadOverAllSlicesAndSets) {
  LineStore store(card_l2());
  for (const std::uint64_t stride : {1, 32, 64, 1024, 4096, 32 * 1024}) {
    std::map<unsigned, unsigned> slices;
    std::set<std::pair<std::uint64_t, unsigned>> sets;
    for (std::uint64_t i = 0; i < 1024; ++i) {
      const auto block = store.block_of(i * stride);
      const unsigned slice = store.slice_of(block, i * stride);
      ++slices[slice];
      sets.insert({block.sets, slice});
    }
    EXPECT_EQ(slices.size(), 32u) << stride;
    for (const auto& [slice, count] : slices) EXPECT_EQ(count, 32u) << stride;
    EXPECT_EQ(sets.size(), 1024u) << stride;
  }
}

TEST(LineStore, TheLeastRecentlyUsedThatIsNotBeingFilledGoesFirst) {
  auto config = small_l2();
  config.ways = 4;
  config.slices = 16;
  config.size = 4 * 16 * kLine;
  LineStore store(config);
  std::array<LineStore::Entry, 4> set{};
  for (LineStore::Entry value : {0x09, 0x11, 0x19, 0x21}) {
    LineStore::use(set.data(), store.victim(set.data()), value);
  }
  EXPECT_EQ(set[store.victim(set.data())], 0x09u);
  LineStore::use(set.data(), 3, 0x09);
  EXPECT_EQ(set[store.victim(set.data())], 0x11u);
  set[3] |= LineStore::kFilling;
  EXPECT_EQ(set[store.victim(set.data())], 0x19u);
  for (auto& entry : set) entry |= LineStore::kFilling;
  EXPECT_EQ(store.victim(set.data()), store.ways());
}

}  // namespace
}  // namespace npu::test
