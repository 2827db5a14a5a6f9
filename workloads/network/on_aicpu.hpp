// SPDX-License-Identifier: Apache-2.0
// Steps on the AICPUs: of any type of numbers (firmware/tensors).
#pragma once

#include "workloads/network/steps.hpp"

namespace npu::network {

// Sides of 1 are repeated.
Value on_aicpu(Steps& steps, abi::TensorOperation operation, ElementType into, const Value& a,
               const Value& b);
Value cast_on_aicpu(Steps& steps, const Value& x, ElementType into);

}  // namespace npu::network
