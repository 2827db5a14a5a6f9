// SPDX-License-Identifier: Apache-2.0
// What a graph should compute, by plain arithmetic in double precision on the host.
#pragma once

#include <functional>
#include <vector>

#include "workloads/task_graph/contents.hpp"

namespace npu::workloads {

// Rows of a tensor, and what stands in them.
struct ExpectedRows {
  std::vector<std::uint64_t> rows;  // ascending
  Matrix values;                    // rows.size() x columns
};

// a x b; of tensors that take more than 2^30 multiplications so many rows, evenly spread.
ExpectedRows reference_matmul(const Matrix& a, const Matrix& b, bool relu);

struct AttentionProblem {
  const Matrix& queries;  // sequences below each other
  const Matrix& keys;     // pages below each other
  const Matrix& values;
  std::uint64_t rows = 0;       // of queries in a sequence
  std::uint64_t page_rows = 0;  // of a page
  std::uint64_t blocks = 0;     // pages of a sequence
  double scale = 1;
  std::function<std::uint64_t(std::uint64_t sequence, std::uint64_t block)> page = {};
};
// softmax(scale Q K^T) V of `sample` sequences, evenly spread.
ExpectedRows reference_attention(const AttentionProblem& problem, std::uint64_t sample);

}  // namespace npu::workloads
