// SPDX-License-Identifier: Apache-2.0
// What an operator is asked to do: the structure that its run() gets, one for each family. Element
// types and layouts are not in here: an operator is compiled for them.
//
// Addresses are of device memory, at any multiple of the element's size. Sizes may be 0: an empty
// result costs no launch, sums over nothing are 0. Matrices are those of mathematics, whatever
// order they lie in; in the order of fractals (zN, nZ) sides are padded to whole ones of 16 x 32 B.
// Results lie row by row. What an operator cannot do it refuses with a reason
// (operator_stream.hpp).
#pragma once

#include <cstdint>

namespace npu::operators {

// C (m x n) = A (m x k) x B (k x n), `batch` times. Sides are below 2^31.
struct MatmulParams {
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t batch = 1;  // 1 for all but the batched operator
  std::uint64_t a = 0, b = 0, c = 0;
  // Elements from row to row, of ColumnMajor from column to column; 0: no gaps. Of zN and nZ: 0.
  std::uint64_t lda = 0, ldb = 0, ldc = 0;
  // Elements from matrix to matrix of a batch or of groups. A and B: 0 is one matrix for all of
  // them. C: matrices may not lie on each other.
  std::uint64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// What the groups of a grouped multiplication are parts of.
enum class GroupSlice : std::uint32_t {
  kM,  // rows of A and C; each group has its B
  kK,  // columns of A and rows of B; each group has its C
};

// `whole` is the product of all groups: its m (slice kM) or k (kK) is that of all of them together.
// Its strides say where the B (kM) or C (kK) of the next group is.
struct GroupedMatmulParams {
  MatmulParams whole;
  std::uint32_t groups = 0;
  GroupSlice slice = GroupSlice::kM;
  // Of `groups` int64: where each group ends in the side that is sliced, none before the one
  // before. Rows of C behind the last end are left alone. Ends that cannot be stop the kernel.
  std::uint64_t group_ends = 0;
};

struct SplitKMatmulParams {
  MatmulParams product;
  std::uint32_t splits = 0;  // parts of k, added up in their order; 0: as many as keep cores busy
};

// C = scale * token_scales[row] * channel_scales[column] * (A x B), A and B int8. Tables are fp32;
// 0: there is none.
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
// Inputs that the expression does not name are 0. The result may lie on an input if both have one
// type.
struct VectorParams {
  std::uint64_t count = 0;
  std::uint64_t to = 0;
  std::uint64_t inputs[4] = {};  // a, b, c, d
  float scalars[4] = {};         // s, s1, s2, s3
};

// Softmax of each row. Rows and columns are below 2^31. The result may lie on the input.
struct SoftmaxParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;  // elements from row to row; 0: no gaps
};

// to = from / sqrt(mean of the row's squares + epsilon) * gamma. As SoftmaxParams.
struct RmsNormParams {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t from = 0, to = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;
  std::uint64_t gamma = 0;  // `columns` elements; 0: all are 1
  float epsilon = 1e-6F;
};

// softmax(scale * Q x K^T) x V of each head, row by row without gaps: Q and the result are
// batch x heads x queries x head, K and V are batch x kv_heads x keys x head. kv_heads divides
// heads; heads / kv_heads neighbours share keys and values. A causal operator lets query i see keys
// 0 to i; values of keys that it does not see are multiplied by 0. Without keys the result is 0.
struct AttentionParams {
  std::uint32_t batch = 1, heads = 1, kv_heads = 1;
  std::uint32_t queries = 0, keys = 0, head = 0;
  std::uint64_t q = 0, k = 0, v = 0, to = 0;
  float scale = 1;
};

}  // namespace npu::operators
