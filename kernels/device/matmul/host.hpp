// SPDX-License-Identifier: Apache-2.0
// What the host's entries of multiplications share: what cannot be done, and the work's fields.
#pragma once

#include "kernels/device/common/entries.hpp"
#include "kernels/device/matmul/tiling.hpp"
#include "kernels/device/matmul/types.hpp"
#include "kernels/device/matmul/work.hpp"

namespace npu::kernels::matmul {

inline constexpr const char* kNoTiling = "no tile of the product fits into the cores' buffers";

// `lines` of `pitch` elements are addresses.
constexpr bool addressable(std::uint64_t lines, std::uint64_t pitch) {
  return pitch == 0 || lines <= aicore::kMostElements / pitch;
}

// Elements from line to line of a matrix that is stored in `lines` of `length`; 0 if they cannot
// be.
template <Layout kLayout>
constexpr bool pitch_of(std::uint64_t& pitch, std::uint64_t lines, std::uint64_t length) {
  if (fractal(kLayout)) return pitch == 0 && addressable(lines + 32, length + 32);
  if (pitch == 0) pitch = std::max<std::uint64_t>(length, 1);
  return pitch >= length && addressable(lines, pitch);
}

// The work without its tiling; a reason if it cannot be done. Nothing of it may be empty but k.
inline const char* to_work(const MatmulParams& p, Work& work) {
  for (const auto side : {p.m, p.n, p.k}) {
    if (side > kMostSide) return "m, n and k must be below 2^31";
  }
  work.m = p.m, work.n = p.n, work.k = p.k, work.batch = p.batch;
  work.a = p.a, work.b = p.b, work.c = p.c;
  work.lda = p.lda, work.ldb = p.ldb, work.ldc = p.ldc;
  work.stride_a = p.stride_a, work.stride_b = p.stride_b, work.stride_c = p.stride_c;
  work.bias = p.bias, work.stride_bias = p.stride_bias;
  if (!aligned(p.a, kTypeA) || !aligned(p.b, kTypeB) || !aligned(p.c, kTypeC)) {
    return "addresses of matrices must be multiples of their elements' sizes";
  }
  constexpr bool kATurned = transposed(kLayoutA), kBTurned = transposed(kLayoutB);
  if (p.bias != 0 && !aligned(p.bias, kTypeBias)) {
    return "the bias' address must be a multiple of its elements' size";
  }
  if (p.bias != 0 && p.k == 0) return "a bias is added to a product: k must not be 0";
  if (!pitch_of<kLayoutA>(work.lda, kATurned ? p.k : p.m, kATurned ? p.m : p.k)) {
    return "lda must be 0, or at least a line of A and within the address space; of zN and nZ 0";
  }
  if (!pitch_of<kLayoutB>(work.ldb, kBTurned ? p.n : p.k, kBTurned ? p.k : p.n)) {
    return "ldb must be 0, or at least a line of B and within the address space; of zN and nZ 0";
  }
  if (!pitch_of<Layout::kRowMajor>(work.ldc, p.m, p.n)) {
    return "ldc must be 0, or at least a row of C and within the address space";
  }
  const std::uint64_t extent = (std::uint64_t{p.m} - 1) * work.ldc + p.n;
  if (p.batch > 1 && p.stride_c < extent) return "stride_c must keep the matrices of C apart";
  for (const auto stride : {p.stride_a, p.stride_b, p.stride_c, p.stride_bias}) {
    if (!addressable(p.batch, stride)) return "strides must stay within the address space";
  }
  return nullptr;
}

// False: refused. `tables`: numbers of columns in L1 beside the tiles, as fp32.
inline bool choose(OperatorStream& stream, const Launches& launches, Work& work,
                   std::uint64_t pieces, std::uint32_t tables = 0) {
  const bool found =
      choose_tiling<OperandA, OperandB>(work.tiling, kTypeA, pieces, work.m, work.n, work.k,
                                        launches.own_cores(), stream.limits(), tables);
  if (!found) stream.refuse(kNoTiling);
  return found;
}

// The same with the one tile of grouped products; false: it does not fit.
inline bool choose_fixed(OperatorStream& stream, const Launches& launches, Work& work,
                         std::uint64_t pieces, std::uint32_t tables = 0) {
  return choose_fixed_tiling<OperandA, OperandB>(work.tiling, kTypeA,
                                                 {pieces, work.m, work.n, work.k},
                                                 launches.own_cores(), stream.limits(), tables);
}

inline std::uint64_t tiles_of(const Work& work) {
  return scheduler_of(work.m, work.n, work.tiling).tiles();
}

}  // namespace npu::kernels::matmul
