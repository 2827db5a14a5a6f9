// SPDX-License-Identifier: Apache-2.0
// The cube's part of the shipped multiplications.
#pragma once

#include "kernels/device/matmul/block_mmad.hpp"
#include "kernels/device/shipped/matmul.hpp"

namespace npu::kernels::gemm {

// Block i of n computes tiles i, i + n, i + 2 n, ... of C: calls run(place) for each.
template <class Run>
void for_tiles(const platform::KernelCall& call, const Problem& p, Run run) {
  const auto scheduler = matmul::scheduler_of(p.m, p.n, p.tiling);
  for (std::uint64_t i = call.block; i < scheduler.tiles(); i += call.blocks) {
    run(scheduler.place(i));
  }
}

// Computes the block's tiles, and calls done(place) behind each.
template <Layout kLayoutB, class Done>
void multiply(aicore::AicorePort& port, const Problem& p, Done done) {
  using MatrixB = Operand<kLayoutB, DataType>;
  matmul::BlockMmad<Matrix, MatrixB, DataType, DataType> block(port, p.tiling, p.type, p.to_type);
  const matmul::Product<Matrix, MatrixB> product{
      {p.a, p.m, p.k, p.lda, p.type}, {p.b, p.k, p.n, p.ldb, p.type}, p.c, p.ldc, p.m, p.n, 0, p.k};
  for_tiles(port.call(), p, [&](const aicore::TilePlace& place) {
    block.run(product, place.row, place.column);
    done(place);
  });
}

}  // namespace npu::kernels::gemm
