// SPDX-License-Identifier: Apache-2.0
// Tensors of the operators of npu/operators/tensor_params.hpp, and what they must give, by plain
// arithmetic in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/programs/support/operator_tensors.hpp"

namespace npu::workloads {

// Without gaps, row by row.
OperatorTensors plain_tensors_of(const operators::NormalisedCall& call);
// False: only the time of the operator is modelled.
bool has_arithmetic(const operators::NormalisedCall& call);

using TensorValues = std::vector<double>;
// What an operator does not write, which is not compared: a number that no arithmetic makes.
double not_written();
bool is_written(double value);
// Of each result; values_of(i) are those of input `i`.
std::vector<TensorValues> expected_tensors(
    const operators::NormalisedCall& call,
    const std::function<TensorValues(std::size_t)>& values_of);

// Zeros on and above the diagonals of a tensor's lower triangular squares, if it has some.
void keep_lower(const OperatorTensor& tensor, ByteSpan bytes);

}  // namespace npu::workloads
