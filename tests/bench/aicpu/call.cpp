// SPDX-License-Identifier: Apache-2.0
// A program that calls what its argument points to: a test's own function.
#include <functional>

#include "npu/platform/aicpu_port.hpp"

extern "C" __attribute__((visibility("default"))) int npu_aicpu_main(
    npu::platform::AicpuPort& port) {
  using Function = std::function<int(npu::platform::AicpuPort&)>;
  return (*reinterpret_cast<Function*>(port.arguments()))(port);
}
