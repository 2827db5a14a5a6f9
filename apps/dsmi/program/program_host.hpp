// SPDX-License-Identifier: Apache-2.0
// Clock, tasks and locks of a program under `npusim exec`.
#pragma once

#include "npu/platform/time.hpp"

namespace npu::dsmi {

// Live as long as the program. Time is simulated time, and sleeping is a call.
platform::Clock& program_clock();
// A task is a thread of the program. A thread that holds a lock runs no signal's handler: one that
// calls as well would wait for it for ever.
platform::Tasks& program_tasks();

}  // namespace npu::dsmi
