// SPDX-License-Identifier: Apache-2.0
// A block's tiles of several products of one size: i, i + n, ... of block i of n.
#pragma once

#include "kernels/device/matmul/block_mmad.hpp"
#include "kernels/device/matmul/types.hpp"

namespace npu::kernels::matmul {

// Matrix `matrix` of a batch, into `c`.
inline Product<OperandA, OperandB> product_of_batch(const Work& work, std::uint64_t matrix,
                                                    std::uint64_t c, std::uint64_t c_pitch) {
  Product<OperandA, OperandB> product{
      {work.a + matrix * work.stride_a * platform::bytes_of(kTypeA), work.m, work.k, work.lda},
      {work.b + matrix * work.stride_b * platform::bytes_of(kTypeB), work.k, work.n, work.ldb},
      c,
      c_pitch,
      work.m,
      work.n,
      0,
      work.k};
  if (work.bias != 0) {
    product.bias = work.bias + matrix * work.stride_bias * platform::bytes_of(kTypeBias);
  }
  return product;
}

// `product_of(i)` is the i-th of `count` products of work's size; C is of type Result.
template <class Result, Tables kTables = Tables::kNone, class ProductOf>
void for_products(AicorePort& port, const Work& work, std::uint64_t count, ProductOf product_of) {
  const auto scheduler = scheduler_of(work.m, work.n, work.tiling);
  using Each = decltype(product_of(0));
  BlockMmad<typename Each::First, typename Each::Second, Fixed<kTypeA>, Result, 1, kTables,
            kTypeBias>
      block(port, work.tiling);
  const std::uint64_t tiles = scheduler.tiles() * count;
  for (std::uint64_t i = port.call().block; i < tiles; i += port.call().blocks) {
    const auto place = scheduler.place(i % scheduler.tiles());
    block.run(product_of(i / scheduler.tiles()), place.row, place.column);
  }
}

}  // namespace npu::kernels::matmul
