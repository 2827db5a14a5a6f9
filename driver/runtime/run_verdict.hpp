// SPDX-License-Identifier: Apache-2.0
// What the outcome of a run means, and whose fault it is.
#pragma once

#include "driver/runtime/context_parts.hpp"

namespace npu::driver {

// `ended`: what the end of its launches looked like from outside; what the scheduler found goes
// before that. `core_fault`: of the executors' queue, if there was one.
Status run_verdict(const TaskGraph& graph, const RunReport& report, const RunOptions& options,
                   const Status& ended, const Programs& programs, const QueueFault& core_fault);

}  // namespace npu::driver
