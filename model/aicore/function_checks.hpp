// SPDX-License-Identifier: Apache-2.0
// Whether a vector function can be executed by a core with these buffers; findings are those of
// instruction_checks.hpp.
#pragma once

#include "model/aicore/instruction_checks.hpp"
#include "npu/platform/vector_function.hpp"

namespace npu::model {

// `functions`: the core has vector functions.
InstructionFinding check(const BufferSizes& sizes, const platform::VectorFunction& function,
                         bool functions);

}  // namespace npu::model
