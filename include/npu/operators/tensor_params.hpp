// SPDX-License-Identifier: Apache-2.0
// Parameters of operators that need nothing but tensors without gaps, sides and a few numbers: one
// structure for all of them. Rules as in params.hpp.
#pragma once

#include <cstdint>

namespace npu::operators {

inline constexpr unsigned kTensorSides = 10, kTensorInputs = 8, kTensorResults = 3;

// In the order of the operator's row of kernels/device/operators/operators.yaml, or of its
// description. An optional tensor that is
// left out is 0. Sides are below 2^31, elements of a tensor below 2^44.
//
// copy: result = x.
// hadamard: each row of x times the Hadamard matrix of 1 and -1 in Sylvester's order, not scaled.
//   `columns` is a power of two from 32 on.
// causal_conv1d: y[t] = silu(bias + sum over i of weights[i] * x[t - width + 1 + i]) for each
//   channel; x is batch x length x channels and 0 before it begins, weights are width x channels.
// rms_norm_cast: result = x / sqrt(mean of the row's squares + epsilon) * gamma, and wide, the
//   result in fp32.
//
// Steps of a gated delta rule over chunks of tokens. k and q are tokens x kv_heads x head, v is
// tokens x heads x head, A is tokens x heads x chunk: a row of the chunk's square for each token.
// Heads that follow one another share keys. beta and the sums g are heads x tokens, in fp32.
// chunk_cumsum: sums of g, tokens x heads, over the tokens of a chunk up to each of them.
// scaled_dot_kkt: A[i][j] = beta[i] * (k[i] . k[j]) * exp(g[i] - g[j]) for j before i, else 0.
// solve_tril: the inverse of I + A of each chunk; A is strictly lower triangular.
// wy_fast: w = A x (beta exp(g) k), u = A x (beta v) in each chunk.
// chunk_o: scale * (exp(g[i]) (q[i] x S) + sum over j up to i of (q[i] . k[j]) exp(g[i] - g[j])
//   v[j]); S is chunks x heads x head x head, the state at each chunk's begin.
//
// argmax, argmin: the place of the largest or smallest element of each row, in int32.
// top_k, bottom_k: the k largest or smallest ones in order, and their places in int32. Of equal
//   ones the first one comes first. What is no number is the largest, but argmin takes it first.
// reduce_...: along the middle one of three axes: outer x inner. Sums and products of reals are
//   made in fp32, of integers in int32. Largest and smallest ones need an axis that is not empty.
// rope_half, rope_interleaved: x * cos + y * sin of each head; x is tokens x heads x head, cos and
//   sin are tokens x head. y is x with pairs turned, (u, v) to (-v, u): pairs are elements i and
//   i + head / 2, or neighbours.
// concat: parts along the middle one of three axes, after one another; sides: outer, inner, and the
//   axis of each part.
// slice: elements begin, begin + step, ... along the middle axis; sides: outer, axis, inner, begin,
//   count, step.
// pad: so many elements of `value` before and behind the middle axis; sides: outer, axis, inner,
//   before, behind.
//
// moe_gating_top_k_softmax, moe_gating_top_k: of each row of logits the k experts of the largest
//   scores, in order, in int32, and their weights in fp32: scores are the row's softmax, or
//   sigmoids. With a bias, `experts` fp32, experts are chosen by score and bias. Those of a group
//   follow one another; only those of the `kept` groups are chosen whose two best ones have the
//   largest sum. normalised 1: weights of a row have the sum 1. Then they are multiplied by scale.
// moe_init_routing: rows of x for each of the tokens' experts from `first` on, `count` of them,
//   expert by expert and token by token; places: where each choice of a token went, -1: to another
//   expert; ends: of each expert's rows, in int64. Rows behind the last end do not change. An
//   expert that is none stops the kernel.
// moe_finalize_routing: of each token the sum of its k rows, times their weights in fp32, and of
//   `more`, which may be left out. Places are those of moe_init_routing; one beyond stops the
//   kernel.
//
// mhc_post, mhc_res: each token's streams mixed: to[i] = sum over j of mix[i][j] * x[j], of
// mhc_post
//   and gates[i] * y; x is tokens x streams x columns, mix tokens x streams x streams, y tokens x
//   columns, gates tokens x streams, all of them fp32.
// mxfp8_matmul, mxfp4_matmul: C = A x B of elements of 8 or 4 bits, B column by column, with a
// scale
//   of a byte for 32 elements along k. Only the time is modelled: C is not the product.
struct TensorParams {
  std::uint64_t sides[kTensorSides] = {};
  std::uint64_t inputs[kTensorInputs] = {};
  std::uint64_t results[kTensorResults] = {};
  std::uint32_t tile = 0;  // bytes of a tile of copy and hadamard; 0: the operator chooses
  float epsilon = 1e-6F;
  float scale = 1;
  float value = 0;
  std::uint32_t given = 0;  // sides
  std::uint32_t sets = 0;   // of buffers of copy: 1 or 2; 0: 2
};

}  // namespace npu::operators
