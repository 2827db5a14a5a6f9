// SPDX-License-Identifier: Apache-2.0
// A call as its user writes it, and the wrapper's idea of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "operators/table.hpp"

namespace npu::operators {

// Addresses are those of the process' device memory. Matrices lie without gaps; A transposed lies
// as k x m, B transposed as n x k. C lies row by row.
struct OperatorCall {
  std::string name;
  std::vector<std::uint64_t> shape;  // as the operator's family says (table.hpp)
  std::string dtype = "float16";     // of A and B
  std::string out_dtype;             // of C; empty: int32 for int8, else that of A
  bool transpose_a = false, transpose_b = false;
  std::string format_a = "ND", format_b = "ND";  // or "NZ": in fractals
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint32_t splits = 0;  // of splitk_matmul: parts of k; 0: as many as keep cores busy
  std::uint32_t cores = 0;   // to use; 0: all
};

// Checked, and with the names that templates know.
struct NormalisedCall {
  const OperatorRow* row = nullptr;
  std::uint32_t batch = 1, m = 0, n = 0, k = 0;
  DataType type{}, out_type{};
  std::string layout_a, layout_b;  // RowMajor, ColumnMajor, zN, nZ
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint32_t splits = 0;
  std::uint32_t cores = 0;
};

// kNotFound: no such operator; kInvalidArgument: one line that says which argument, what was found
// and what is possible.
Result<NormalisedCall> normalise(const OperatorCall& call);

}  // namespace npu::operators
