// SPDX-License-Identifier: Apache-2.0
// Plans of compaction: what is moved, and that following the plan overwrites nothing.
#include "driver/memory/compaction_plan.hpp"
#include "tests/support/matchers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npu::driver {
namespace {

using Blocks = std::vector<PlacedBlock>;
using test::must;

Bytes moved_bytes(const MoveStages& stages) {
  Bytes sum = 0;
  for (const auto& stage : stages) {
    for (const auto& move : stage) sum += move.size;
  }
  return sum;
}

bool is_free(const Blocks& blocks, std::uint64_t begin, Bytes size) {
  return std::none_of(blocks.begin(), blocks.end(), [&](const PlacedBlock& block) {
    return block.begin < begin + size && begin < block.begin + block.size;
  });
}

Bytes largest_gap(Blocks blocks, Bytes total) {
  std::sort(blocks.begin(), blocks.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Bytes largest = 0, end = 0;
  for (const auto& block : blocks) {
    largest = std::max(largest, block.begin - end);
    end = block.begin + block.size;
  }
  return std::max(largest, total - end);
}

// Follows the plan. All moves of a stage begin before any ends: a destination must be free of every
// block at the begin of the stage, and of the other destinations. One that overlaps itself is
// alone.
void follow(Blocks& blocks, const MoveStages& stages, Bytes total) {
  for (const auto& stage : stages) {
    Blocks busy = blocks;
    for (const auto& move : stage) {
      const auto block = std::find_if(blocks.begin(), blocks.end(),
                                      [&](const auto& b) { return b.id == move.id; });
      ASSERT_TRUE(block != blocks.end() && block->movable);
      ASSERT_EQ(block->begin, move.from);
      ASSERT_EQ(block->size, move.size);
      ASSERT_LE(move.to + move.size, total);
      if (move.overlaps_itself()) {
        ASSERT_EQ(stage.size(), 1U);
        busy.erase(
            std::find_if(busy.begin(), busy.end(), [&](const auto& b) { return b.id == move.id; }));
      }
      ASSERT_TRUE(is_free(busy, move.to, move.size)) << "destination " << move.to;
      busy.push_back({move.to, move.size, 0, true});
      block->begin = move.to;
    }
  }
}

// The case of requirements.md M2: 1 + 2 + 1 + 52 GiB, of which one of 1 and the one of 2 GiB were
// freed.
TEST(CompactionPlan, MovesTheOneBlockBetweenTheHoles) {
  const Blocks blocks{{1_GiB, 1_GiB, 7, true}, {4_GiB, 52_GiB, 8, true}};
  const auto plan = must(plan_compaction(blocks, 56_GiB, 3_GiB));
  ASSERT_EQ(plan.size(), 1U);
  ASSERT_EQ(plan.front().size(), 1U);
  EXPECT_EQ(plan.front()[0].id, 7U);
  EXPECT_EQ(plan.front()[0].size, 1_GiB);
}

TEST(CompactionPlan, PrefersTheWindowWithTheFewestBytes) {
  const Blocks blocks{{2, 3, 1, true}, {7, 1, 2, true}, {10, 5, 3, true}};
  const auto plan = plan_compaction(blocks, 16, 4);  // [6, 10) costs 1
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(moved_bytes(*plan), 1U);
  EXPECT_EQ(plan->front()[0].id, 2U);
}

// [4, 8) would cost 1, but that one is pinned; [3, 7) costs 2.
TEST(CompactionPlan, NeverTouchesAPinnedBlock) {
  Blocks blocks{{2, 2, 1, true}, {7, 1, 2, false}, {10, 5, 3, true}};
  const auto plan = must(plan_compaction(blocks, 16, 4));
  EXPECT_EQ(moved_bytes(plan), 2U);
  follow(blocks, plan, 16);
  EXPECT_GE(largest_gap(blocks, 16), 4U);
}

TEST(CompactionPlan, FindsNoneIfPinnedBlocksAreEverywhere) {
  const Blocks blocks{{2, 1, 1, false}, {5, 1, 2, false}, {8, 1, 3, false}};
  EXPECT_FALSE(plan_compaction(blocks, 11, 3).has_value());
}

TEST(CompactionPlan, FindsNoneIfTooLittleIsFree) {
  const Blocks blocks{{0, 4, 1, true}, {6, 4, 2, true}};
  EXPECT_FALSE(plan_compaction(blocks, 12, 5).has_value());
  EXPECT_FALSE(plan_compaction(blocks, 12, 13).has_value());
}

// Holes of 2, 2 and 2; blocks of 3: no window's block fits a hole. The block of 1 must make way
// first.
TEST(CompactionPlan, MakesAHoleForABlockThatFitsNone) {
  Blocks blocks{{2, 3, 1, true}, {7, 1, 2, true}, {10, 3, 3, true}};
  const auto plan = must(plan_compaction(blocks, 13, 5));
  follow(blocks, plan, 13);
  EXPECT_GE(largest_gap(blocks, 13), 5U);
}

// One hole of 4 and holes of 1 between blocks of 4, and all of it is wanted: every block must go to
// the other side of the hole, each to the place that the one before has left.
TEST(CompactionPlan, LetsAHoleWanderToTheOthers) {
  Blocks blocks{{4, 4, 1, true}, {9, 4, 2, true}, {14, 4, 3, true}, {19, 4, 4, true}};
  const auto plan = must(plan_compaction(blocks, 24, 8));
  EXPECT_EQ(moved_bytes(plan), 16U);
  EXPECT_EQ(plan.size(), 4U);
  follow(blocks, plan, 24);
  EXPECT_EQ(largest_gap(blocks, 24), 8U);
}

// No block fits a hole, and all holes are wanted: the fewest bytes go the longest way.
TEST(CompactionPlan, SlidesBlocksThatAreLargerThanEveryHole) {
  Blocks blocks{{1, 4, 1, true}, {7, 4, 2, true}, {12, 4, 3, true}};
  const auto plan = plan_compaction(blocks, 16, 3);  // [5, 7) and [11, 12)
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(moved_bytes(*plan), 4U);
  EXPECT_EQ(plan->front()[0].distance(), 2U);
  follow(blocks, *plan, 16);
  EXPECT_EQ(largest_gap(blocks, 16), 3U);
}

class RandomLayouts : public testing::TestWithParam<unsigned> {
 protected:
  Blocks draw(std::mt19937& random, Bytes total, unsigned density) {
    Blocks blocks;
    std::uint32_t id = 0;
    for (std::uint64_t at = 0; at < total;) {
      const Bytes size = std::min<Bytes>(1 + random() % 12, total - at);
      if (random() % 100 < density) blocks.push_back({at, size, id++, random() % 20 != 0});
      at += size;
    }
    return blocks;
  }
  // Holes that are smaller than every block.
  Blocks draw_tight(std::mt19937& random, Bytes total) {
    Blocks blocks;
    for (std::uint64_t at = random() % 4; at + 20 <= total; at += random() % 4) {
      const Bytes size = 5 + random() % 16;
      blocks.push_back({at, size, static_cast<std::uint32_t>(blocks.size()), random() % 20 != 0});
      at += size;
    }
    return blocks;
  }
};

TEST_P(RandomLayouts, FollowingThePlanOverwritesNothingAndMakesRoom) {
  std::mt19937 random(GetParam());
  unsigned found = 0;
  for (int round = 0; round < 300; ++round) {
    auto blocks = draw(random, 200, 60 + static_cast<unsigned>(random() % 38));
    const Bytes wanted = 1 + random() % 30;
    const auto plan = plan_compaction(blocks, 200, wanted);
    if (!plan) continue;
    ++found;
    follow(blocks, *plan, 200);
    if (HasFatalFailure()) return;
    EXPECT_GE(largest_gap(blocks, 200), wanted);
  }
  EXPECT_GT(found, 100U);
}

// What a full slide gives: all that is free between two blocks that stay.
Bytes room_between_fixed(Blocks blocks, Bytes total) {
  std::sort(blocks.begin(), blocks.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  Bytes most = 0, room = 0, end = 0;
  for (const auto& block : blocks) {
    room += block.begin - end;
    end = block.begin + block.size;
    most = std::max(most, room);
    if (!block.movable) room = 0;
  }
  return std::max(most, room + total - end);
}

TEST_P(RandomLayouts, ThereIsAlwaysAWayToWhatAFullSlideGives) {
  std::mt19937 random(GetParam());
  unsigned slides = 0;
  for (int round = 0; round < 300; ++round) {
    auto blocks = round % 3 == 0 ? draw_tight(random, 200)
                                 : draw(random, 200, 60 + static_cast<unsigned>(random() % 40));
    const Bytes most = room_between_fixed(blocks, 200);
    if (most == 0) continue;
    const Bytes wanted = round % 2 == 0 ? most : 1 + random() % most;
    const auto plan = plan_compaction(blocks, 200, wanted);
    ASSERT_TRUE(plan.has_value()) << round;
    for (const auto& stage : *plan) slides += stage[0].overlaps_itself() ? 1 : 0;
    follow(blocks, *plan, 200);
    if (HasFatalFailure()) return;
    EXPECT_GE(largest_gap(blocks, 200), wanted);
  }
  EXPECT_GT(slides, 10U);
}

// The cheapest window by trying all of them, for layouts in which everything fits: blocks of 1.
TEST_P(RandomLayouts, OfSinglePagesMovesAsFewAsPossible) {
  std::mt19937 random(GetParam());
  for (int round = 0; round < 100; ++round) {
    Blocks blocks;
    std::vector<unsigned> used(100, 0);
    for (std::uint32_t page = 0; page < 100; ++page) {
      if (random() % 3 == 0) continue;
      blocks.push_back({page, 1, page, true});
      used[page] = 1;
    }
    const Bytes wanted = std::min<Bytes>(5 + random() % 10, 100 - blocks.size());
    Bytes least = 100;
    for (Bytes begin = 0; begin + wanted <= 100; ++begin) {
      Bytes cost = 0;
      for (Bytes i = 0; i < wanted; ++i) cost += used[begin + i];
      least = std::min(least, cost);
    }
    const auto plan = must(plan_compaction(blocks, 100, wanted));
    EXPECT_EQ(moved_bytes(plan), least);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayouts, testing::Range(1U, 6U));

TEST(CompactionPlan, TwentyThousandBlocksArePlannedInTime) {
  std::mt19937 random(3);
  Blocks blocks;
  for (std::uint32_t page = 0; page < 28'672; ++page) {
    if (random() % 10 < 7) blocks.push_back({page, 1, page, true});
  }
  const auto plan = must(plan_compaction(blocks, 28'672, 1536));
  follow(blocks, plan, 28'672);
  EXPECT_GE(largest_gap(blocks, 28'672), 1536U);
}

}  // namespace
}  // namespace npu::driver
