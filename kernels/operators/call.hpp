// SPDX-License-Identifier: Apache-2.0
// A call as its user writes it, and the wrapper's idea of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/operators/table.hpp"
#include "npu/base/result.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::operators {

inline constexpr std::size_t kMostInputs = 11;
// Of operators that take any number of tensors, such as concat.
inline constexpr std::size_t kMostParts = kTensorInputs;

// Addresses are those of the process' device memory. Tensors lie without gaps; A transposed lies as
// k x m, B transposed as n x k. Results lie row by row.
struct OperatorCall {
  std::string name;
  std::vector<std::uint64_t> shape;  // the operator's row names its numbers
  std::string dtype = "float16";     // of what is multiplied, or of all inputs
  // Of the first result; empty: int32 for products of int8, float32 for quantised ones, int8 for
  // what is quantised, else dtype.
  std::string out_dtype;
  // Of a product's bias; empty: int32 of int8, else float32.
  std::string bias_dtype;
  bool transpose_a = false, transpose_b = false;
  std::string format_a = "ND", format_b = "ND";  // of matrices; or "NZ": in fractals
  // In the order of the row; scales, gamma, beta, bias: 0: none.
  std::array<std::uint64_t, kMostInputs> inputs{};
  std::array<std::uint64_t, 3> results{};  // in the order of the row
  bool slice_k = false;      // of grouped_matmul: groups are slices of k, else of the rows of A
  std::uint32_t splits = 0;  // of splitk_matmul: parts of k; 0: as many as keep cores busy
  std::string expression;    // of elementwise, broadcast: over a, b, c, d, s, s1, s2, s3
  std::vector<std::uint64_t> other_shape;      // of broadcast and its like: the sides of b
  std::vector<std::uint64_t> condition_shape;  // of where
  std::vector<std::uint64_t> order;            // of transpose: axis i of the result is order[i]
  std::array<float, 4> scalars{};              // s, s1, s2, s3
  float epsilon = 1e-6F;                       // of norms
  float scale = 1;                             // of quant_matmul, flash_attention
  bool causal = false;                         // of flash_attention
  bool whole_mask = false;    // of a causal one: keys that no query sees are multiplied, too
  bool heads_inside = false;  // of flash_attention: batch, rows, heads, head; else heads first
  // Of flash_attention: inputs[4] has a number of dtype for each key, which is added to its scores;
  // `mask_pitch` elements from batch to batch, 0: the same for all.
  bool masked = false;
  std::uint64_t mask_pitch = 0;
  // Of flash_attention: keys of a page, pages of a batch; inputs[3] is the table.
  std::uint32_t page = 0, pages = 0;
  bool activate_left = true;  // of dequant_swiglu_quant: which half goes through silu
  bool maximize = false;      // of apply_adam_w: against the gradient
  std::uint32_t sets = 0;     // of buffers of copy: 1 or 2; 0: 2
  std::uint32_t tile = 0;     // of copy, hadamard: bytes; 0: the operator chooses
  std::uint32_t cores = 0;    // to use; 0: all
};

// Checked, and with the names that templates know.
struct NormalisedCall {
  const OperatorRow* row = nullptr;
  std::vector<std::uint64_t> sides;              // the shape
  std::uint32_t batch = 1, m = 0, n = 0, k = 0;  // of products; batch: or groups
  DataType type{}, out_type{}, bias_type{};
  std::string layout_a, layout_b;  // RowMajor, ColumnMajor, zN, nZ
  OperatorCall call;               // for the rest
};

// Of an operator whose description has its tensors.
DataType type_of_input(const NormalisedCall& call, std::size_t i);
DataType type_of_result(const NormalisedCall& call, std::size_t i);

// kNotFound: no such operator; kInvalidArgument: one line that says which argument, what was found
// and what is possible.
Result<NormalisedCall> normalise(const OperatorCall& call);

}  // namespace npu::operators
