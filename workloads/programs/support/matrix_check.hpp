// SPDX-License-Identifier: Apache-2.0
// A product of matrices against plain arithmetic on the host.
#pragma once

#include <vector>

#include "npu/base/result.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

struct MatrixProduct {
  std::uint32_t m = 0, n = 0, k = 0;
  DataType type = DataType::kFp16;     // of a and b
  DataType to_type = DataType::kFp16;  // of c
  ConstByteSpan a, b, c;               // dense, row by row
  ConstByteSpan bias = {};             // a number for each column; empty: none
  DataType bias_type = DataType::kFp32;
};

struct MatrixError {
  std::uint64_t compared = 0;  // elements
  double largest = 0;          // relative to the element
};

// Every element if `samples` is 0, else the corners and so many others, chosen by `seed`.
// kWrongData names the first element that is off by more than `to_type` must round.
Result<MatrixError> check_product(const MatrixProduct& product, std::uint64_t samples,
                                  std::uint64_t seed);

}  // namespace npu::workloads
