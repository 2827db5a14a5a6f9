// SPDX-License-Identifier: Apache-2.0
// The cubes' part of a round: scores of one chunk of keys, and weights times values of the one
// before. Tiles that no query sees are left out.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/matmul/block_mmad.hpp"

namespace npu::kernels::attention {

using aicore::AicorePort;
using Rows = Operand<Layout::kRowMajor, Fixed<kTypeA>>;
using Columns = Operand<Layout::kColumnMajor, Fixed<kTypeA>>;

class Cubes {
 public:
  Cubes(AicorePort& port, const Work& work) : port_(port), w_(work) {}
  void run() {
    if (w_.round < w_.chunks()) scores(w_.round);
    if (w_.round > 0) values(w_.round - 1);
  }

 private:
  template <class B>
  using Mmad = matmul::BlockMmad<Rows, B, Fixed<kTypeA>, Fixed<DataType::kFp32>>;
  static constexpr std::uint64_t kBytes = platform::bytes_of(kTypeA);

  std::uint64_t of_keys(std::uint64_t base, std::uint32_t head, std::uint32_t chunk) const {
    const std::uint64_t row = std::uint64_t{head / w_.shared} * w_.keys + w_.first_key(chunk);
    return base + row * w_.head * kBytes;
  }
  std::uint64_t row_of(std::uint32_t head) const { return std::uint64_t{head} * w_.queries; }
  std::uint32_t last_query(std::uint32_t row, const matmul::Tiling& tiling) const {
    return std::min((row + 1) * tiling.m, w_.queries) - 1;
  }

  // Calls run(head, place) for the block's tiles that are `seen`.
  template <class Seen, class Run>
  void for_tiles(const matmul::Tiling& tiling, std::uint32_t columns, Seen seen, Run run) {
    const auto scheduler = matmul::scheduler_of(w_.queries, columns, tiling);
    for (std::uint32_t head = 0; head < w_.heads; ++head) {
      for (std::uint64_t i = 0; i < scheduler.tiles(); ++i) {
        const auto place = scheduler.place(i);
        if (seen(place) && next_++ % port_.call().blocks == port_.call().block) run(head, place);
      }
    }
  }

  void scores(std::uint32_t chunk) {
    const matmul::Tiling& tiling = w_.score_tiling;
    const std::uint32_t keys = w_.keys_of(chunk);
    Mmad<Columns> block(port_, tiling);
    const auto seen = [&](const aicore::TilePlace& place) {
      return w_.first_key(chunk) + place.column * tiling.n <
             w_.seen_by(last_query(place.row, tiling));
    };
    for_tiles(tiling, keys, seen, [&](std::uint32_t head, const aicore::TilePlace& place) {
      const matmul::Product<Rows, Columns> product{
          {w_.q + row_of(head) * w_.head * kBytes, w_.queries, w_.head, w_.head},
          {of_keys(w_.k, head, chunk), w_.head, keys, w_.head},
          w_.scores + row_of(head) * w_.chunk * 4,
          w_.chunk,
          w_.queries,
          keys,
          0,
          w_.head};
      block.run(product, place.row, place.column);
    });
  }

  void values(std::uint32_t chunk) {
    const matmul::Tiling& tiling = w_.value_tiling;
    Mmad<Rows> block(port_, tiling);
    const auto seen = [&](const aicore::TilePlace& place) {
      return w_.first_query(chunk) <= last_query(place.row, tiling);
    };
    for_tiles(tiling, w_.head, seen, [&](std::uint32_t head, const aicore::TilePlace& place) {
      const std::uint32_t keys = w_.keys_of(chunk);
      const std::uint32_t visible =
          std::min(keys, w_.seen_by(last_query(place.row, tiling)) - w_.first_key(chunk));
      const matmul::Product<Rows, Rows> product{
          {w_.weights + row_of(head) * w_.chunk * kBytes, w_.queries, keys, w_.chunk},
          {of_keys(w_.v, head, chunk), keys, w_.head, w_.head},
          w_.values + row_of(head) * w_.head * 4,
          w_.head,
          w_.queries,
          w_.head,
          0,
          visible};
      block.run(product, place.row, place.column);
    });
  }

  AicorePort& port_;
  const Work w_;
  std::uint64_t next_ = 0;  // tile of both products
};

}  // namespace npu::kernels::attention
