// SPDX-License-Identifier: Apache-2.0
// Operators of npu/operators/tensor_params.hpp by plain arithmetic: a row each.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads::plain_tensors {

// Rows without gaps.
struct TensorOf {
  std::uint64_t rows = 1, columns = 0;
  DataType type{};
  std::uint64_t lower = 0;  // as OperatorTensor's
  std::uint64_t below = 0;  // its indices_below
};
struct TensorsOf {
  std::vector<TensorOf> inputs, results;
};
using Inputs = std::vector<TensorValues>;
using Results = std::vector<TensorValues>;

struct PlainOperator {
  std::string_view name;
  TensorsOf (*tensors)(const operators::NormalisedCall&);
  // nullptr: only its time is modelled
  Results (*expected)(const operators::NormalisedCall&, const Inputs&);
};

// Those that choose, reduce, turn or move elements (moving_reference.cpp).
const std::vector<PlainOperator>& choosing_operators();
// Those of experts (routing_reference.cpp).
const std::vector<PlainOperator>& routing_operators();

}  // namespace npu::workloads::plain_tensors
