// SPDX-License-Identifier: Apache-2.0
// What else must be true of stores that reduce (AicorePort::set_store_reduction). The instructions
// have been checked (instruction_checks.hpp).
#pragma once

#include "model/aicore/instruction_checks.hpp"

namespace npu::model {

InstructionFinding check_reduced(const platform::CopyOut& copy,
                                 const platform::StoreReduction& reduction);
InstructionFinding check_reduced(const platform::Fixpipe& fixpipe,
                                 const platform::StoreReduction& reduction);

}  // namespace npu::model
