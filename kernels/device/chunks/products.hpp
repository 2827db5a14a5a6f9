// SPDX-License-Identifier: Apache-2.0
// A block's tiles of the products of all pieces: i, i + n, ... of block i of n.
#pragma once

#include "kernels/device/chunks/work.hpp"
#include "kernels/device/matmul/block_mmad.hpp"

namespace npu::kernels::chunks {

using aicore::AicorePort;

inline std::uint64_t tiles_of(const matmul::Tiling& tiling, std::uint32_t m, std::uint32_t n) {
  return matmul::scheduler_of(m, n, tiling).tiles();
}

// product_of(i) is the i-th of `count` products of m x n; C is of type kResult.
template <class A, class B, DataType kResult, class ProductOf>
void for_pieces(AicorePort& port, const matmul::Tiling& tiling, std::uint32_t m, std::uint32_t n,
                std::uint64_t count, ProductOf product_of) {
  const auto scheduler = matmul::scheduler_of(m, n, tiling);
  matmul::BlockMmad<A, B, Fixed<kTypeA>, Fixed<kResult>> block(port, tiling);
  const std::uint64_t tiles = scheduler.tiles() * count;
  for (std::uint64_t i = port.call().block; i < tiles; i += port.call().blocks) {
    const auto place = scheduler.place(i % scheduler.tiles());
    block.run(product_of(i / scheduler.tiles()), place.row, place.column);
  }
}

// Rows x rows^T of each chunk and kv head, chunk x chunk in fp32, dense at `to`.
inline void token_products(AicorePort& port, const Work& work, const matmul::Tiling& tiling,
                           std::uint64_t left, std::uint64_t right, std::uint64_t to) {
  const std::uint64_t pitch = std::uint64_t{work.kv_heads} * work.head;
  for_pieces<Rows, Columns, DataType::kFp32>(
      port, tiling, work.chunk, work.chunk, work.groups(), [&](std::uint64_t i) {
        const Piece at = piece(i, work.kv_heads);
        return matmul::Product<Rows, Columns>{
            {rows_at(left, work, at.chunk, at.head, work.kv_heads, work.head), work.chunk,
             work.head, pitch},
            {rows_at(right, work, at.chunk, at.head, work.kv_heads, work.head), work.head,
             work.chunk, pitch},
            to + i * work.square() * 4,
            work.chunk,
            work.chunk,
            work.chunk,
            0,
            work.head};
      });
}

}  // namespace npu::kernels::chunks
