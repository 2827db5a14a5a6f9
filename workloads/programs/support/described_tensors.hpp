// SPDX-License-Identifier: Apache-2.0
// Tensors of operators of one's own, whose descriptions have their shapes, and what they have to
// give by their own reference (NPU_REFERENCE of kernels/device/common/entries.hpp).
#pragma once

#include <functional>
#include <vector>

#include "kernels/operators/call.hpp"
#include "npu/jit/kernel.hpp"
#include "workloads/programs/support/operator_tensors.hpp"
#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads {

OperatorTensors described_tensors(const operators::NormalisedCall& call);

// Of each result. `values_of(i)` are those of input `i`; a result has as many values as its tensor.
std::vector<TensorValues> expected_by(jit::Reference reference,
                                      const operators::NormalisedCall& call,
                                      const std::function<TensorValues(std::size_t)>& values_of);

}  // namespace npu::workloads
