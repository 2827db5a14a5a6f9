// SPDX-License-Identifier: Apache-2.0
// The host's choice of tiles: of those that fit into the buffers, the one whose slowest core is
// done first, and an order of the tiles that the cache serves. NPU_JIT_L1_M, _N and _K,
// NPU_JIT_L0_K decide instead where they are given.
#pragma once

#include <algorithm>

#include "kernels/device/common/operand.hpp"
#include "kernels/device/matmul/work.hpp"
#include "npu/aicore/block_scheduler.hpp"
#include "npu/aicore/tiles.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::kernels::matmul {

using operators::CoreLimits;

inline constexpr std::uint32_t kStages = 2;       // of each buffer, in turn
inline constexpr std::uint32_t kMostTile = 4095;  // of the cube's instruction
inline constexpr std::uint32_t kAccumulatorBytes = 4;

inline constexpr Tiling kWanted = {
#ifdef NPU_JIT_L1_M
    NPU_JIT_L1_M,
#else
    0,
#endif
#ifdef NPU_JIT_L1_N
    NPU_JIT_L1_N,
#else
    0,
#endif
#ifdef NPU_JIT_L1_K
    NPU_JIT_L1_K,
#else
    0,
#endif
#ifdef NPU_JIT_L0_K
    NPU_JIT_L0_K,
#else
    0,
#endif
};
static_assert(kWanted.m % 32 == 0 && kWanted.n % 32 == 0 && kWanted.k % 32 == 0 &&
                  kWanted.l0_k % 32 == 0,
              "NPU_JIT_L1_M, NPU_JIT_L1_N, NPU_JIT_L1_K and NPU_JIT_L0_K must be multiples of 32");
static_assert(kWanted.m <= kMostTile && kWanted.n <= kMostTile && kWanted.l0_k <= kMostTile,
              "NPU_JIT_L1_M, NPU_JIT_L1_N and NPU_JIT_L0_K must be at most 4095");

// The tiles of C (m x n) in their order.
inline aicore::BlockScheduler scheduler_of(std::uint32_t m, std::uint32_t n, const Tiling& tiling) {
  return {aicore::divide_up(m, tiling.m), aicore::divide_up(n, tiling.n), tiling.swizzle_offset,
          tiling.swizzle_direction};
}

template <class A, class B>
constexpr std::uint64_t stage_bytes(const Tiling& tile, DataType type) {
  return A::local_bytes(tile.m, tile.k, type) + B::local_bytes(tile.k, tile.n, type);
}

// Rows in L0 come in sixteens.
constexpr std::uint64_t l0_bytes(std::uint32_t rows, std::uint32_t columns, DataType type) {
  return std::uint64_t{aicore::round_up(rows, kFractalRows)} * aicore::row_bytes(columns, type);
}

// `tables`: of each stage, fp32 for each column of a tile.
template <class A, class B>
constexpr bool fits(const Tiling& tile, DataType type, const CoreLimits& limits,
                    std::uint32_t tables = 0) {
  const std::uint32_t grain = fractal_columns(type);
  if (tile.m % (A::kTransposed ? grain : kFractalRows) != 0 ||
      tile.n % (B::kTransposed ? kFractalRows : grain) != 0 || tile.k % grain != 0) {
    return false;
  }
  const std::uint64_t beside =
      std::uint64_t{tables} * aicore::row_bytes(tile.n, platform::DataType::kFp32);
  return tile.l0_k != 0 && tile.l0_k % grain == 0 &&
         kStages * (stage_bytes<A, B>(tile, type) + beside) <= limits.l1 &&
         kStages * l0_bytes(tile.m, tile.l0_k, type) <= limits.l0a &&
         kStages * l0_bytes(tile.l0_k, tile.n, type) <= limits.l0b &&
         std::uint64_t{aicore::round_up(tile.m, kFractalRows)} * tile.n * kAccumulatorBytes <=
             limits.l0c;
}

// A product, and how many of its size share the cores.
struct ProductShape {
  std::uint64_t pieces = 1;
  std::uint32_t m = 0, n = 0, k = 0;
};

// Of `bytes`, so many elements along k of two places for a line of `side` elements each.
constexpr std::uint32_t depth_in(std::uint64_t bytes, std::uint32_t side, DataType type) {
  return static_cast<std::uint32_t>(bytes / kStages /
                                    (std::uint64_t{side} * platform::bytes_of(type)));
}
constexpr std::uint32_t round_down(std::uint32_t value, std::uint32_t to) {
  return value / to * to;
}

// As deep a tile of these sides as fits; false: none. As in the public libraries A and B fill their
// halves of L0, and of L1 with as many of those steps, in whole lines of the L2 where one has room
// (operators.md B3). A narrow tile is deep: else its loads would be short, and its steps many.
template <class A, class B>
bool choose_depth(Tiling& tile, DataType type, const CoreLimits& limits, std::uint32_t tables,
                  std::uint32_t shape_k) {
  const std::uint32_t grain = fractal_columns(type);
  const std::uint32_t k = aicore::round_up(std::max(shape_k, 1U), grain);
  const std::uint32_t step =
      kWanted.l0_k != 0 ? kWanted.l0_k
                        : std::min({round_down(depth_in(limits.l0a, tile.m, type), grain),
                                    round_down(depth_in(limits.l0b, tile.n, type), grain), k});
  if (step == 0) return false;
  const std::uint32_t line =
      std::max(step, 512 / static_cast<std::uint32_t>(platform::bytes_of(type)));
  const std::uint32_t room = std::min(depth_in(limits.l1 / 2, std::max(tile.m, tile.n), type), k);
  tile.k = kWanted.k != 0 ? kWanted.k : std::max(round_down(room, room < line ? step : line), step);
  while (true) {
    tile.l0_k = std::min(step, tile.k);
    if (fits<A, B>(tile, type, limits, tables)) return true;
    if (kWanted.k != 0 || tile.k <= step) return false;
    tile.k -= step;
  }
}

// Bytes of a row of the tile as the matrix is stored; fractals come in whole columns.
template <class Matrix>
constexpr std::uint64_t row_bytes_of(std::uint32_t rows, std::uint32_t columns, DataType type) {
  const std::uint64_t length = Matrix::kTransposed ? rows : columns;
  return Matrix::kFractal ? UINT32_MAX : length * platform::bytes_of(type);
}

// Clocks of the core that has most tiles: each takes as long as the slowest of loading, multiplying
// and FixPipe; nothing hides FixPipe of the last one.
template <class A, class B>
std::uint64_t clocks_of(const Tiling& tile, DataType type, const ProductShape& shape,
                        std::uint32_t cores) {
  const std::uint32_t m = std::min(tile.m, shape.m), n = std::min(tile.n, shape.n);
  const std::uint32_t k = std::min(tile.k, shape.k);
  const std::uint64_t tiles =
      shape.pieces * aicore::divide_up(shape.m, tile.m) * aicore::divide_up(shape.n, tile.n);
  const aicore::TileLoads loads{row_bytes_of<A>(m, k, type), row_bytes_of<B>(k, n, type)};
  const std::uint64_t store = aicore::store_clocks({m, n, 0});
  const std::uint64_t each = std::max(aicore::block_clocks({m, n, 0}, shape.k, type, loads), store);
  return aicore::divide_up<std::uint64_t>(tiles, cores) * each + store;
}

// The order of tiles (operators.md B3): panels of three tile rows if C is tall, of three tile
// columns if it is wide. Operands that the cache does not hold get panels of which one side fits
// into half of it: it stays there while the other side goes by, once for each panel.
inline void choose_order(Tiling& tiling, DataType type, const ProductShape& shape,
                         std::uint64_t l2) {
  tiling.swizzle_offset = 3;
  tiling.swizzle_direction = shape.m >= shape.n ? 0 : 1;
  const std::uint64_t line = shape.k * platform::bytes_of(type);
  if (l2 == 0 || (std::uint64_t{shape.m} + shape.n) * line <= l2) return;
  std::uint64_t least = 0;
  for (const std::uint32_t direction : {0U, 1U}) {
    const std::uint32_t side = direction == 0 ? shape.m : shape.n;
    const std::uint32_t other = direction == 0 ? shape.n : shape.m;
    const std::uint32_t tile = direction == 0 ? tiling.m : tiling.n;
    const std::uint64_t most = std::max<std::uint64_t>(l2 / 2 / (tile * line), 3);
    const std::uint32_t tiles = aicore::divide_up(side, tile);
    const auto panels = static_cast<std::uint32_t>(aicore::divide_up<std::uint64_t>(tiles, most));
    const std::uint64_t read = side + std::uint64_t{panels} * other;
    if (least != 0 && read >= least) continue;
    least = read;
    tiling.swizzle_direction = direction;
    tiling.swizzle_offset = aicore::divide_up(tiles, panels);
  }
}

// The best of the tiles that it is shown.
template <class A, class B>
class TileChoice {
 public:
  TileChoice(DataType type, const ProductShape& shape, std::uint32_t cores,
             const CoreLimits& limits, std::uint32_t tables)
      : type_(type), shape_(shape), cores_(cores), limits_(limits), tables_(tables) {}

  void consider(std::uint32_t m, std::uint32_t n) {
    Tiling tile;
    // No wider than C: the buffers' room is for a deeper tile.
    const std::uint32_t grain = fractal_columns(type_);
    const auto side = [](std::uint32_t wanted, std::uint32_t most, std::uint32_t all,
                         std::uint32_t of) {
      return wanted != 0 ? wanted : std::min(most, aicore::round_up(std::max(all, 1U), of));
    };
    tile.m =
        side(kWanted.m, m, shape_.m, A::kTransposed ? std::max(grain, kFractalRows) : kFractalRows);
    tile.n =
        side(kWanted.n, n, shape_.n, B::kTransposed ? kFractalRows : std::max(grain, kFractalRows));
    if (!choose_depth<A, B>(tile, type_, limits_, tables_, shape_.k)) return;
    const std::uint64_t clocks = clocks_of<A, B>(tile, type_, shape_, cores_);
    if (best_.m != 0 && !better(clocks, tile)) return;
    clocks_ = clocks;
    best_ = tile;
  }
  const Tiling& best() const { return best_; }  // m is 0: none fits

 private:
  // A column of fractals lies densely along k. Where each of them is read once, memory decides: of
  // tiles that take about the same time the narrowest, which is the deepest, reads the longest
  // runs, and these use the memory's channels evenly.
  bool better(std::uint64_t clocks, const Tiling& tile) const {
    const bool once = B::kFractal && tile.m >= shape_.m && best_.m >= shape_.m;
    const bool about = std::max(clocks, clocks_) - std::min(clocks, clocks_) <= clocks_ / kAbout;
    return once && about ? tile.n < best_.n : clocks < clocks_;
  }
  static constexpr std::uint64_t kAbout = 32;  // so many parts of the time: assumed

  const DataType type_;
  const ProductShape shape_;
  const std::uint32_t cores_;
  const CoreLimits limits_;
  const std::uint32_t tables_;
  Tiling best_;
  std::uint64_t clocks_ = 0;
};

// Libraries of chips whose L0C holds tiles of 256 x 256 cut C into tiles of one size up to that,
// in sixteens (950.md N32).
constexpr bool even_tiles(const CoreLimits& limits) {
  return limits.l0c >= 256 * 256 * kAccumulatorBytes;
}
template <class Choice>
void consider_even_tiles(Choice& choice, std::uint32_t m, std::uint32_t n) {
  constexpr std::uint32_t kSide = 256, kMore = 8;
  const std::uint32_t rows = aicore::divide_up(m, kSide), columns = aicore::divide_up(n, kSide);
  for (std::uint32_t r = rows; r < rows + kMore; ++r) {
    for (std::uint32_t c = columns; c < columns + kMore; ++c) {
      choice.consider(aicore::round_up(aicore::divide_up(m, r), kFractalRows),
                      aicore::round_up(aicore::divide_up(n, c), kFractalRows));
    }
  }
}

// False: none fits. `pieces`: as many products of m x n x k share the cores.
template <class A, class B>
bool choose_tiling(Tiling& tiling, DataType type, std::uint64_t pieces, std::uint32_t m,
                   std::uint32_t n, std::uint32_t k, std::uint32_t cores, const CoreLimits& limits,
                   std::uint32_t tables = 0) {
  const ProductShape shape{pieces, m, n, k};
  TileChoice<A, B> choice(type, shape, cores, limits, tables);
  for (const aicore::TileShape& candidate : aicore::kTileCandidates) {
    choice.consider(candidate.m, candidate.n);
  }
  if (even_tiles(limits)) consider_even_tiles(choice, m, n);
  tiling = choice.best();
  if (tiling.m != 0) choose_order(tiling, type, shape, limits.l2);
  return tiling.m != 0;
}

// The one tile of the public grouped product (ops-transformer, gmm/grouped_matmul/op_host): 256
// columns, as deep as half of L0B holds, and as many rows as halves of L0A and all of L0C hold,
// whatever the groups' sizes. False: it does not fit.
template <class A, class B>
bool choose_fixed_tiling(Tiling& tiling, DataType type, const ProductShape& shape,
                         std::uint32_t cores, const CoreLimits& limits, std::uint32_t tables = 0) {
  constexpr std::uint32_t kColumns = 256, kMostRows = 256;
  const std::uint32_t bytes = static_cast<std::uint32_t>(platform::bytes_of(type));
  const std::uint64_t depth =
      limits.l0b / kStages / (kColumns * bytes) / kFractalRows * kFractalRows;
  if (depth == 0) return false;
  const std::uint64_t rows =
      std::min({limits.l0a / kStages / (depth * bytes),
                limits.l0c / (std::uint64_t{kColumns} * kAccumulatorBytes),
                std::uint64_t{kMostRows}, std::uint64_t{aicore::round_up(shape.m, kFractalRows)}});
  TileChoice<A, B> choice(type, shape, cores, limits, tables);
  choice.consider(static_cast<std::uint32_t>(rows), kColumns);
  tiling = choice.best();
  if (tiling.m != 0) choose_order(tiling, type, shape, limits.l2);
  return tiling.m != 0;
}

}  // namespace npu::kernels::matmul
