// SPDX-License-Identifier: Apache-2.0
// What vector instructions do to the bytes of UB: fp16 and fp32 in fp32 with one rounding at the
// end, int32 exactly, modulo 2^32.
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

// An instruction that the core has (instruction_checks.hpp), its offsets relative to `ub`.
void execute(const platform::Vector& vector, unsigned char* ub);

}  // namespace npu::model::arithmetic
