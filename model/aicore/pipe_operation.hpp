// SPDX-License-Identifier: Apache-2.0
// The name of what an instruction does, for events and reports.
#pragma once

#include "model/aicore/pipe_queue.hpp"
#include "npu/platform/core_events.hpp"

namespace npu::model {

platform::PipeOperation operation_of(const Instruction& instruction);

}  // namespace npu::model
