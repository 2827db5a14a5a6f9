// SPDX-License-Identifier: Apache-2.0
// Operators over chunks of tokens: a piece is a chunk of one head. Tensors of tokens are tokens x
// heads x columns; gates and the like are heads x tokens, in fp32.
#pragma once

#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/operand.hpp"
#include "kernels/device/matmul/tiling.hpp"
#include "kernels/device/matmul/work.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels::chunks {

using vector::kTypeA;
using vector::kTypeC;

static_assert(kTypeA == kTypeC && (kTypeA == DataType::kFp16 || kTypeA == DataType::kBf16),
              "chunks are of half or bfloat16: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be the "
              "same");

using Rows = Operand<Layout::kRowMajor, Fixed<kTypeA>>;
using Columns = Operand<Layout::kColumnMajor, Fixed<kTypeA>>;  // of the transposed matrix

inline constexpr std::uint64_t kElement = 2;  // bytes of kTypeA
inline constexpr std::uint32_t kGrain = 64;   // of chunks: masks of whole blocks of UB
inline constexpr std::uint32_t kLargest = 256;
inline constexpr std::uint32_t kTile = 8192;  // elements that a vector core works on at a time

// Of small kernels that are written by hand, as those with published times are.
struct Work {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t in[5] = {}, to[2] = {}, spare[4] = {};  // spare: in the workspace
  std::uint32_t tokens = 0, heads = 0, kv_heads = 0, head = 0, chunk = 0;
  float scale = 1;
  matmul::Tiling first, second;

  std::uint64_t chunks() const { return tokens / chunk; }
  std::uint64_t pieces() const { return chunks() * heads; }
  std::uint64_t groups() const { return chunks() * kv_heads; }  // pieces that share keys
  std::uint32_t shared() const { return heads / kv_heads; }
  std::uint64_t square() const { return std::uint64_t{chunk} * chunk; }
  std::uint64_t area() const { return std::uint64_t{chunk} * head; }
};

struct Piece {
  std::uint64_t chunk = 0;
  std::uint32_t head = 0;
};
inline Piece piece(std::uint64_t index, std::uint32_t heads) {
  return {index / heads, static_cast<std::uint32_t>(index % heads)};
}
// Of a tensor of `heads` heads with `columns` columns each: where the piece's first row is.
inline std::uint64_t rows_at(std::uint64_t tensor, const Work& work, std::uint64_t chunk,
                             std::uint32_t head, std::uint32_t heads, std::uint32_t columns) {
  const std::uint64_t row = chunk * work.chunk;
  return tensor + ((row * heads + head) * columns) * kElement;
}
// A number of each of the piece's tokens.
inline std::uint64_t numbers_at(std::uint64_t tensor, const Work& work, const Piece& at) {
  return tensor + (std::uint64_t{at.head} * work.tokens + at.chunk * work.chunk) * 4;
}

// A reason if it cannot be done. Sides: tokens, kv_heads, heads, head, chunk. Not empty.
inline const char* to_work(const TensorParams& p, Work& work, unsigned inputs, unsigned results) {
  for (unsigned i = 0; i < 5; ++i) {
    if (p.sides[i] > kMostSide) return "sides must be below 2^31";
  }
  work.tokens = static_cast<std::uint32_t>(p.sides[0]);
  work.kv_heads = static_cast<std::uint32_t>(p.sides[1]);
  work.heads = static_cast<std::uint32_t>(p.sides[2]);
  work.head = static_cast<std::uint32_t>(p.sides[3]);
  work.chunk = static_cast<std::uint32_t>(p.sides[4]);
  work.scale = p.scale;
  if (work.chunk % kGrain != 0 || work.chunk > kLargest || work.chunk == 0) {
    return "a chunk must be 64, 128, 192 or 256 tokens";
  }
  if (work.tokens % work.chunk != 0) return "tokens must be whole chunks";
  if (work.kv_heads == 0 || work.heads % work.kv_heads != 0) return "kv_heads must divide heads";
  if (work.head % 16 != 0 || work.head > kLargest) {
    return "a head must be a multiple of 16 columns, 256 at most";
  }
  const std::uint64_t widest = std::max(work.head, work.chunk);
  if (std::uint64_t{work.tokens} * work.heads > aicore::kMostElements / widest) {
    return "the tensors are beyond the address space";
  }
  for (unsigned i = 0; i < inputs; ++i) {
    if (p.inputs[i] == 0) return "an input is not given";
    if (p.inputs[i] % 4 != 0) return "addresses must be multiples of four bytes";
    work.in[i] = p.inputs[i];
  }
  for (unsigned i = 0; i < results; ++i) {
    if (p.results[i] % 4 != 0) return "addresses must be multiples of four bytes";
    work.to[i] = p.results[i];
  }
  return nullptr;
}

inline bool is_empty(const TensorParams& p) {
  return p.sides[0] == 0 || p.sides[2] == 0 || p.sides[3] == 0;
}

// Tiles of A x B of m x n x k, `pieces` of them; false: refused.
template <class A, class B>
bool choose(OperatorStream& stream, const Launches& launches, matmul::Tiling& tiling,
            std::uint64_t pieces, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  const bool found = matmul::choose_tiling<A, B>(tiling, kTypeA, pieces, m, n, k,
                                                 launches.cores(CoreKind::kCube), stream.limits());
  if (!found) stream.refuse("no tile of the products fits into the cores' buffers");
  return found;
}

}  // namespace npu::kernels::chunks
