// SPDX-License-Identifier: Apache-2.0
// A program of AICPUs: thread i stores i + 1 to the i-th word behind its arguments' address.
#include "npu/platform/aicpu_port.hpp"

extern "C" __attribute__((visibility("default"))) int npu_aicpu_main(
    npu::platform::AicpuPort& port) {
  port.store(port.arguments() + 8 * port.thread(), 8, port.thread() + 1);
  return 0;
}
