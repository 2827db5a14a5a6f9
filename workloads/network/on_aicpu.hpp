// SPDX-License-Identifier: Apache-2.0
// Steps on the AICPUs: of any type of numbers (firmware/tensors).
#pragma once

#include <string>
#include <vector>

#include "workloads/network/steps.hpp"

namespace npu::network {

// The cores have no instructions for its numbers. Bytes they compute with as int32.
bool is_for_aicpu(const Value& x);
// Sides of 1 are repeated. Refused: functions of reals of integers.
Value on_aicpu(Steps& steps, abi::TensorOperation operation, ElementType into, const Value& a,
               const Value& b);
Value cast_on_aicpu(Steps& steps, const Value& x, ElementType into);
// "sum", "mean", "max", "min", "prod" along the axes, one element after the other.
Value reduce_on_aicpu(Steps& steps, const std::string& how, const Value& x,
                      const std::vector<std::size_t>& axes, bool keep);

}  // namespace npu::network
