// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>
#include <vector>

#include "kernels/device/shipped/matmul.hpp"
#include "npu/aicore/block_scheduler.hpp"

namespace npu::kernels::gemm {
namespace {

using aicore::BlockScheduler;
using testing::ElementsAre;
using Place = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Place> places(const BlockScheduler& scheduler) {
  std::vector<Place> all;
  for (std::uint64_t i = 0; i < scheduler.tiles(); ++i) {
    const auto place = scheduler.place(i);
    all.emplace_back(place.row, place.column);
  }
  return all;
}

// Both orders: operators.md B3.
TEST(BlockSchedulerTest, PanelsOfRowsGoThereAndBack) {
  EXPECT_THAT(places(BlockScheduler(5, 3, 3, 0)),
              ElementsAre(Place{0, 0}, Place{1, 0}, Place{2, 0}, Place{0, 1}, Place{1, 1},
                          Place{2, 1}, Place{0, 2}, Place{1, 2}, Place{2, 2}, Place{3, 2},
                          Place{4, 2}, Place{3, 1}, Place{4, 1}, Place{3, 0}, Place{4, 0}));
}

TEST(BlockSchedulerTest, PanelsOfColumnsGoThereAndBack) {
  EXPECT_THAT(
      places(BlockScheduler(4, 4, 3, 1)),
      ElementsAre(Place{0, 0}, Place{0, 1}, Place{0, 2}, Place{1, 0}, Place{1, 1}, Place{1, 2},
                  Place{2, 0}, Place{2, 1}, Place{2, 2}, Place{3, 0}, Place{3, 1}, Place{3, 2},
                  Place{3, 3}, Place{2, 3}, Place{1, 3}, Place{0, 3}));
}

TEST(BlockSchedulerTest, EveryTileIsVisitedOnce) {
  for (std::uint32_t rows = 1; rows < 8; ++rows) {
    for (std::uint32_t columns = 1; columns < 8; ++columns) {
      for (const std::uint32_t direction : {0U, 1U}) {
        const auto all = places(BlockScheduler(rows, columns, 3, direction));
        const std::set<Place> different(all.begin(), all.end());
        EXPECT_EQ(different.size(), rows * columns);
        EXPECT_LT(different.rbegin()->first, rows);
      }
    }
  }
}

void expect_fits(const Problem& p) {
  const std::uint64_t bytes = platform::bytes_of(p.type);
  // A2 (runtime.md A1): L1 512 KiB and L0A, L0B 64 KiB in two stages each, L0C 128 KiB.
  EXPECT_LE(2 * (p.tiling.m + p.tiling.n) * p.tiling.k * bytes, 512U << 10) << p.m << " x " << p.n;
  EXPECT_LE(2 * p.tiling.m * p.tiling.l0_k * bytes, 64U << 10) << p.m << " x " << p.n;
  EXPECT_LE(2 * p.tiling.n * p.tiling.l0_k * bytes, 64U << 10) << p.m << " x " << p.n;
  EXPECT_LE(p.tiling.m * p.tiling.n * 4, 128U << 10);
  EXPECT_EQ(p.tiling.k % p.tiling.l0_k, 0U);
}

TEST(TilingTest, TilesFitTheBuffersOfEveryType) {
  for (const auto type : {DataType::kFp16, DataType::kBf16, DataType::kFp32, DataType::kInt8}) {
    for (const std::uint32_t m : {1U, 17U, 64U, 128U, 1000U, 6144U}) {
      for (const std::uint32_t n : {1U, 32U, 128U, 1000U, 6144U, 16384U}) {
        Problem p;
        p.m = m, p.n = n, p.k = 1024;
        p.type = type;
        choose_tiles(p, 24);
        expect_fits(p);
      }
    }
  }
}

TEST(TilingTest, LargeProductsTakeTheUsualTile) {
  Problem p;
  p.m = p.n = p.k = 4096;
  choose_tiles(p, 24);
  EXPECT_EQ(p.tiling.m * p.tiling.n, 128U * 256U);
}

// Buffers of the 950, whose L0C holds 256 x 256.
operators::CoreLimits of_950() {
  operators::CoreLimits limits = kA2;
  limits.l0c = 256 << 10;
  return limits;
}

TEST(TilingTest, WideL0cTakesTilesOf256By256) {
  Problem p;
  p.m = p.n = p.k = 4096;
  choose_tiles(p, 32, of_950());
  EXPECT_EQ(p.tiling.m, 256U);
  EXPECT_EQ(p.tiling.n, 256U);
}

// 56 tiles of 256 x 256 on 32 cores take two rounds, the second of 24: so do 64 narrower ones.
TEST(TilingTest, WideL0cTakesTilesOfOneSize) {
  Problem p;
  p.m = 1024, p.n = p.k = 3584;
  p.type = DataType::kInt8;
  choose_tiles(p, 32, of_950());
  EXPECT_EQ(p.tiling.m, 256U);
  EXPECT_EQ(p.tiling.n, 224U);
}

TEST(TilingTest, OperandsThatTheCacheHoldsGoInPanelsOfThree) {
  Problem p;
  p.m = p.n = p.k = 4096;
  auto limits = kA2;
  limits.l2 = 192 << 20;
  choose_tiles(p, 24, limits);
  EXPECT_EQ(p.tiling.swizzle_offset, 3U);
}

// 210 MB each of A and B: two panels of 105, not 27 of 8.
TEST(TilingTest, OperandsBeyondTheCacheGoInPanelsOfHalfOfIt) {
  Problem p;
  p.m = p.n = p.k = 10240;
  auto limits = kA2;
  limits.l2 = 192 << 20;
  choose_tiles(p, 24, limits);
  const bool rows = p.tiling.swizzle_direction == 0;
  const std::uint64_t panel =
      std::uint64_t{p.tiling.swizzle_offset} * (rows ? p.tiling.m : p.tiling.n) * p.k * 2;
  EXPECT_LE(panel, limits.l2 / 2);
  EXPECT_GT(panel, limits.l2 / 4);
}

TEST(ProblemTest, WordsCarryEverything) {
  Problem p;
  p.a = 1, p.b = 2, p.c = 3;
  p.m = 4, p.n = 5, p.k = 6;
  p.lda = 7, p.ldb = 8, p.ldc = 9;
  p.type = DataType::kInt8;
  p.to_type = DataType::kInt32;
  p.tiling = {10, 11, 12, 13, 14, 15};
  const Problem q = from_words(to_words(p));
  EXPECT_EQ(to_words(q)[0], 1U);
  EXPECT_EQ(to_words(q), to_words(p));
  EXPECT_EQ(q.tiling.k, 12U);
  EXPECT_EQ(q.tiling.l0_k, 13U);
  EXPECT_EQ(q.ldc, 9U);
  EXPECT_EQ(q.tiling.swizzle_direction, 15U);
}

}  // namespace
}  // namespace npu::kernels::gemm
