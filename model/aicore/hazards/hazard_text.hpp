// SPDX-License-Identifier: Apache-2.0
// Hazards in words, a line each.
#pragma once

#include <string>

#include "model/aicore/hazards/hazards.hpp"

namespace npu::model {

// "UB 0x400..0x7ff: VECTOR add at softmax+0x1c40 (core 24, block 0, instruction 14) reads what MTE2
// gm_to_ub at softmax+0x1b10 (instruction 12) writes, and nothing orders them; 48 times".
std::string text_of(const Hazards& hazards, const Hazard& hazard);

}  // namespace npu::model
