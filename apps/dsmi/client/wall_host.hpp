// SPDX-License-Identifier: Apache-2.0
// Clock, tasks and locks of the machine that the program itself runs on, for cards behind a socket.
#pragma once

#include "npu/platform/time.hpp"

namespace npu::dsmi {

// Live as long as the program.
platform::Clock& wall_clock();
platform::Tasks& wall_tasks();

}  // namespace npu::dsmi
