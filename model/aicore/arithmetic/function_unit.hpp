// SPDX-License-Identifier: Apache-2.0
// What vector functions do to the bytes of UB: each step as the instruction of the same name.
#pragma once

#include "model/aicore/vector_function.hpp"

namespace npu::model::arithmetic {

// A function that the core has (function_checks.hpp), its offsets relative to `ub`.
void execute(const FunctionBody& function, unsigned char* ub);

}  // namespace npu::model::arithmetic
