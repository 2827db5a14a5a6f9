// SPDX-License-Identifier: Apache-2.0
// The parameters of `run operator`, and the call that they are.
#pragma once

#include <vector>

#include "kernels/operators/call.hpp"
#include "workloads/framework/parameter.hpp"

namespace npu::workloads {

std::vector<ParameterSpec> operator_parameters();
// Without addresses.
operators::OperatorCall operator_call_of(const ParameterSet& parameters);

// kInvalidArgument: epsilon, scale or value is no number.
Status check_call_numbers(const ParameterSet& parameters);

}  // namespace npu::workloads
