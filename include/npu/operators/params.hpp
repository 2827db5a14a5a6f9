// SPDX-License-Identifier: Apache-2.0
// Parameters of operators: the structure that run() gets, one for each family. Element types and
// layouts are not in here, since an operator is compiled for them.
//
// Addresses are of device memory, aligned to the element. Sizes may be 0: an empty result needs no
// launch, and a sum over nothing is 0. Rows and columns are those of the mathematical matrix, in
// any memory order. In the order of fractals (zN, nZ) sides are padded to multiples of 16 x 32 B.
// Results are stored row by row. An operator refuses unsupported parameters with a reason
// (operator_stream.hpp).
#pragma once

#include <cstdint>

namespace npu::operators {

// C (m x n) = A (m x k) x B (k x n) + bias[column], `batch` times. Sides are below 2^31. The type
// of the bias is fixed when the operator is compiled: fp32, or fp16, of reals, int32 of int8. An
// empty k has no bias.
struct MatmulParams {
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t batch = 1;  // 1 for all but the batched operator
  std::uint64_t a = 0, b = 0, c = 0;
  // Elements between rows, of ColumnMajor between columns; 0: no gaps. zN and nZ: 0.
  std::uint64_t lda = 0, ldb = 0, ldc = 0;
  // Elements between the matrices of a batch or of groups. A and B: 0 means one matrix for all. The
  // matrices of C must not overlap.
  std::uint64_t stride_a = 0, stride_b = 0, stride_c = 0;
  std::uint64_t bias = 0;         // n numbers; 0: none
  std::uint64_t stride_bias = 0;  // elements between those of a batch or of groups of rows
};

// The side that a grouped multiplication divides into groups.
enum class GroupSlice : std::uint32_t {
  kM,  // rows of A and C; each group has its own B
  kK,  // columns of A and rows of B; each group has its own C
};

// `whole` describes all groups together: its m (kM) or k (kK) is the sum of the groups. Its strides
// lead to the B (kM) or C (kK) of the next group.
struct GroupedMatmulParams {
  MatmulParams whole;
  std::uint32_t groups = 0;
  GroupSlice slice = GroupSlice::kM;
  // Address of `groups` int64: the end of each group in the divided side, ascending. Rows of C
  // after the last end do not change. Invalid ends stop the kernel.
  std::uint64_t group_ends = 0;
};

struct SplitKMatmulParams {
  MatmulParams product;
  std::uint32_t splits = 0;  // parts of k, added in order; 0: as many as the cores need
};

// C = scale * token_scales[row] * channel_scales[column] * (A x B + bias[column]), with A and B in
// int8 and the bias in int32. A bias of another type is added last instead. Scales are fp32; 0:
// none. FixPipe makes a half C without token scales, and with at most one kind of scales; it has 10
// bits of their fractions.
struct QuantMatmulParams {
  MatmulParams product;
  float scale = 1;
  std::uint32_t reserved = 0;
  std::uint64_t channel_scales = 0;  // n
  std::uint64_t token_scales = 0;    // m
};

// y (m) = A (m x k) times x (k).
struct GemvParams {
  std::uint32_t m = 0, k = 0;
  std::uint64_t a = 0, x = 0, y = 0;
  std::uint64_t lda = 0;  // as in MatmulParams
};

// to[i] = expression(a[i], b[i], c[i], d[i], s, s1, s2, s3) for `count` elements, below 2^44.
// Unused inputs are 0. The result may take the place of an input of the same type.
struct VectorParams {
  std::uint64_t count = 0;
  std::uint64_t to = 0;
  std::uint64_t inputs[4] = {};  // a, b, c, d
  float scalars[4] = {};         // s, s1, s2, s3
};

// to = expression(a, b, c, s, s1, s2, s3) of operands that are repeated along axes where they have
// one element; c is int8. Axes from the outermost one; sides are those of the result. Bit i of
// `a_repeats` and the others: the operand has one element along axis i. No gaps. At most kMostAxes
// axes, and as many elements as VectorParams. Unused inputs are 0. The result may not take the
// place of an operand.
inline constexpr std::uint32_t kMostAxes = 8;
struct BroadcastParams {
  std::uint32_t axes = 0;
  std::uint32_t a_repeats = 0, b_repeats = 0, c_repeats = 0;
  std::uint64_t sides[kMostAxes] = {};
  std::uint64_t a = 0, b = 0, c = 0, to = 0;
  float scalars[4] = {};  // s, s1, s2, s3
};

// Axis i of the result is axis order[i] of `from`, whose sides these are. No gaps, no place of its
// own. Elements as in VectorParams.
struct TransposeParams {
  std::uint32_t axes = 0;
  std::uint32_t reserved = 0;
  std::uint64_t sides[kMostAxes] = {};
  std::uint32_t order[kMostAxes] = {};
  std::uint64_t from = 0, to = 0;
};

// A step of AdamW in place, for `count` elements below 2^44:
//   m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2
//   variable -= rate decay variable + rate m / b1 / (sqrt(v) / sqrt(b2) + epsilon)
// with b1 = 1 - beta1_power beta1, b2 = 1 - beta2_power beta2; the powers are those before the
// step. What follows `gradient` are addresses of one element each, of the type of all.
struct AdamWParams {
  std::uint64_t count = 0;
  std::uint64_t variable = 0, m = 0, v = 0, gradient = 0;
  std::uint64_t beta1_power = 0, beta2_power = 0, rate = 0, decay = 0;
  std::uint64_t beta1 = 0, beta2 = 0, epsilon = 0;
  std::uint32_t maximize = 0;  // 1: g = -gradient
  std::uint32_t reserved = 0;
};

// Each of batch x groups groups of channels is normalised: to = (from - mean) / sqrt(variance +
// epsilon) * gamma[channel] + beta[channel]. from and to are batch x channels x size without gaps;
// `groups` divides channels. The sides' product is below 2^44.
struct GroupNormParams {
  std::uint32_t batch = 0, channels = 0, size = 0, groups = 1;
  std::uint64_t from = 0, to = 0;
  std::uint64_t gamma = 0, beta = 0;  // `channels` elements; 0: all are 1, 0
  float epsilon = 1e-5F;
  std::uint32_t reserved = 0;
};

// Softmax along the middle one of three axes. Sides are below 2^31, their product below 2^44. No
// gaps. The result may take the place of the input.
struct SoftmaxAxisParams {
  std::uint32_t outer = 0, axis = 0, inner = 0;
  std::uint32_t reserved = 0;
  std::uint64_t from = 0, to = 0;
};

// Softmax of each row. Rows and columns are below 2^31. The result may take the place of the input.
struct SoftmaxParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;  // elements between rows; 0: no gaps
};

// to = from / sqrt(mean of the row's squares + epsilon) * gamma. Limits as in SoftmaxParams.
struct RmsNormParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;
  std::uint64_t gamma = 0;  // `columns` elements; 0: all are 1
  float epsilon = 1e-6F;
};

// to = (from - mean) / sqrt(mean of the squares of what is left + epsilon) * gamma + beta of each
// row. Limits as in SoftmaxParams; no gaps.
struct LayerNormParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t gamma = 0, beta = 0;  // `columns` elements; 0: all are 1, 0
  float epsilon = 1e-5F;
  std::uint32_t reserved = 0;
};

// Rows of a table by index. The operator that gathers: row i of `rows` becomes row indices[i] of
// the table. The one that scatters, as caches of keys and values are written: row indices[i] of the
// table becomes row i; of two rows for one place either may be there. Rows with a negative index
// are left out, one beyond the table stops the kernel. Sides are below 2^31. No gaps.
struct IndexedRowsParams {
  std::uint32_t count = 0, columns = 0;  // of `rows`
  std::uint32_t table_rows = 0, reserved = 0;
  std::uint64_t table = 0, rows = 0;
  std::uint64_t indices = 0;  // `count` int32
};

// to = silu(a) * b, silu(a) = a / (1 + exp(-a)): a is the left half of each row of `from`, b the
// right one. `columns`: of the result, below 2^30; rows of `from` are twice as long. No gaps.
struct SwiGluParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
};

// Rows of reals as int8 and an fp32 scale each: scale = the largest |from| / 127, to = from * (127
// / the largest |from|), rounded to nearest even, all of it in fp32. What is no number there
// becomes 0: rows of zeros, infinities, and all of a row with a NaN, whose scale is one. No gaps.
struct DynamicQuantParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t scales = 0;  // `rows` fp32
};

// sum = x1 + x2, to = sum / sqrt(mean of the row's squares + epsilon) * gamma, from the sum as fp32
// has it. With `scales`, which only the operator that quantises has, `to` is int8 as in
// DynamicQuantParams. No gaps.
struct AddRmsNormParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t x1 = 0, x2 = 0;
  std::uint64_t gamma = 0;  // `columns` elements; 0: all are 1
  std::uint64_t to = 0, sum = 0;
  std::uint64_t scales = 0;  // `rows` fp32
  float epsilon = 1e-6F;
  std::uint32_t reserved = 0;
};

// DynamicQuantParams of silu(a) * b * quant_scales[column]. a and b are the halves of each row of
// `from`; int32 ones are first multiplied by weight_scales[column] and activation_scales[row].
// `columns`: of the result, below 2^30. No gaps.
struct DequantSwigluQuantParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t scales = 0;             // of the result: `rows` fp32
  std::uint64_t weight_scales = 0;      // of int32 alone: 2 * columns fp32; 0: all are 1
  std::uint64_t activation_scales = 0;  // of int32 alone: `rows` fp32; 0: all are 1
  std::uint64_t quant_scales = 0;       // `columns` fp32; 0: all are 1
  std::uint32_t activate_left = 1;      // 0: a is the right half
  std::uint32_t reserved = 0;
};

// softmax(scale * Q x K^T) x V of each head. Q and the result are batch x heads x queries x head, K
// and V are batch x kv_heads x keys x head, row by row without gaps. kv_heads divides heads, and
// heads / kv_heads neighbouring heads share keys and values. In a causal operator the last query
// uses all keys and each query before it one key less: query i uses keys 0 .. keys - queries + i.
// The other values are multiplied by 0 or left out; with `whole_mask` none is left out, as with a
// mask of all queries and keys in libraries (sparse mode 0). The result of a query without keys is
// 0: of the first queries - keys ones in a causal operator, of all if there are no keys.
// `heads_inside`: batch x queries x heads x head instead, and batch x keys x kv_heads x head.
// With a table K and V are pages of `page` keys each: pages x kv_heads x page x head, or
// pages x page x kv_heads x head. Key j of batch b is in page table[b * pages + j / page].
// Half is computed in half on cards that hand scores on through memory: scores before they are
// scaled must be below 65504.
struct AttentionParams {
  std::uint32_t batch = 1, heads = 1, kv_heads = 1;
  std::uint32_t queries = 0, keys = 0, head = 0;
  std::uint64_t q = 0, k = 0, v = 0, to = 0;
  std::uint64_t table = 0;            // `batch` x `pages` uint32; 0: none
  std::uint32_t page = 0, pages = 0;  // with a table: not 0, and page * pages at least keys
  std::uint32_t heads_inside = 0;     // 0 or 1
  std::uint32_t whole_mask = 0;       // 0 or 1
  float scale = 1;
  std::uint32_t reserved = 0;
  // With NPU_JIT_MASK: a number for each key; elements from batch to batch, 0: the same for all.
  std::uint64_t mask = 0, mask_pitch = 0;
};

}  // namespace npu::operators
