// SPDX-License-Identifier: Apache-2.0
// The cubes' part of a round: scores of one step, and weights times values of the one before. Tiles
// that no query sees are left out.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/matmul/block_mmad.hpp"

namespace npu::kernels::attention {

using aicore::AicorePort;
using Rows = Operand<Layout::kRowMajor, Fixed<kTypeA>>;
using Columns = Operand<Layout::kColumnMajor, Fixed<kTypeA>>;

inline constexpr unsigned kTilesInL0c = 2;

class Cubes {
 public:
  Cubes(AicorePort& port, const Work& work) : port_(port), w_(work), next_(port.call().block) {}
  void run() {
    if (w_.round < w_.steps()) scores(w_.step(w_.round));
    if (w_.round > 0) values(w_.step(w_.round - 1));
  }

 private:
  template <class B>
  using Mmad = matmul::BlockMmad<Rows, B, Fixed<kTypeA>, Fixed<DataType::kFp32>, kTilesInL0c>;
  static constexpr std::uint64_t kBytes = platform::bytes_of(kTypeA);

  std::uint64_t of_keys(std::uint64_t base, std::uint32_t group, std::uint32_t chunk) const {
    return base + (std::uint64_t{group} * w_.keys + w_.first_key(chunk)) * w_.head * kBytes;
  }
  std::uint64_t row_of(std::uint32_t group) const { return std::uint64_t{group} * w_.rows(); }
  // Calls run(group of the wave, row, column) for the block's tiles of `groups` groups, of which
  // each has `rows` rows of tiles with across(row) of them. Blocks take tiles in turn, of both
  // products as if they were one.
  template <class Across, class Run>
  void for_tiles(std::uint32_t groups, std::uint32_t rows, Across across, Run run) {
    std::uint32_t each = 0;
    for (std::uint32_t row = 0; row < rows; ++row) each += across(row);
    std::uint32_t row = 0, before = 0, row_group = 0;  // tiles of the group before the row
    const std::uint64_t all = std::uint64_t{groups} * each;
    for (; next_ < all; next_ += port_.call().blocks) {
      const auto group = static_cast<std::uint32_t>(next_ / each);
      const auto tile = static_cast<std::uint32_t>(next_ % each);
      if (group != row_group) row = before = 0, row_group = group;
      for (; tile - before >= across(row); ++row) before += across(row);
      run(group, row, tile - before);
    }
    next_ -= all;
  }

  void scores(const Step& step) {
    const matmul::Tiling& tiling = w_.score_tiling;
    const std::uint32_t keys = w_.keys_of(step.chunk);
    Mmad<Columns> block(port_, tiling);
    const auto across = [&](std::uint32_t row) {
      return aicore::divide_up(w_.seen_in_tiles(step.chunk, row, tiling.m), tiling.n);
    };
    for_tiles(step.groups, aicore::divide_up(w_.rows(), tiling.m), across,
              [&](std::uint32_t group, std::uint32_t row, std::uint32_t column) {
                const std::uint32_t whole = step.first_group + group;
                const matmul::Product<Rows, Columns> product{
                    {w_.q + row_of(whole) * w_.head * kBytes, w_.rows(), w_.head, w_.head},
                    {of_keys(w_.k, whole, step.chunk), w_.head, keys, w_.head},
                    w_.scores + row_of(group) * w_.chunk * 4,
                    w_.chunk,
                    w_.rows(),
                    keys,
                    0,
                    w_.head};
                block.run(product, row, column);
              });
  }

  // Parts of the keys are tiles beside one another.
  void values(const Step& step) {
    const matmul::Tiling& tiling = w_.value_tiling;
    const std::uint32_t columns = aicore::divide_up(w_.head, tiling.n);
    const std::uint32_t keys = w_.keys_of(step.chunk);
    Mmad<Rows> block(port_, tiling);
    const auto across = [&](std::uint32_t row) {
      return columns * aicore::divide_up(w_.seen_in_tiles(step.chunk, row, tiling.m), w_.part);
    };
    for_tiles(step.groups, aicore::divide_up(w_.rows(), tiling.m), across,
              [&](std::uint32_t group, std::uint32_t row, std::uint32_t tile) {
                const std::uint32_t part = tile / columns, first = part * w_.part;
                const std::uint64_t to = std::uint64_t{part} * w_.wave * w_.rows() + row_of(group);
                const matmul::Product<Rows, Rows> product{
                    {w_.weights + row_of(group) * w_.chunk * kBytes, w_.rows(), keys, w_.chunk},
                    {of_keys(w_.v, step.first_group + group, step.chunk), keys, w_.head, w_.head},
                    w_.values + to * w_.head * 4,
                    w_.head,
                    w_.rows(),
                    w_.head,
                    first,
                    std::min(first + w_.part, w_.seen_in_tiles(step.chunk, row, tiling.m))};
                block.run(product, row, tile % columns);
              });
  }

  AicorePort& port_;
  const Work w_;
  std::uint64_t next_;  // tile of the block
};

}  // namespace npu::kernels::attention
