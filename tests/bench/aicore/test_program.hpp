// SPDX-License-Identifier: Apache-2.0
// The bench's program runs a function of the test, whose address is the block's argument: nothing
// of it lies in device memory, so that it costs what the test does and no more.
#pragma once

#include <functional>

#include "npu/platform/aicore_port.hpp"

namespace npu::test {

using Body = std::function<int(platform::AicorePort&)>;

}  // namespace npu::test
