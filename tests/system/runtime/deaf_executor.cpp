// SPDX-License-Identifier: Apache-2.0
// Worker 4 leaves its core without a word; all others are executors.
#include "npu/aicore/kernel.hpp"

extern "C" int real_executor(npu::platform::AicorePort& port);

namespace npu::test {
namespace {

constexpr std::uint32_t kDeafWorker = 4;

int run(aicore::AicorePort& port) {
  return port.call().block == kDeafWorker ? 0 : real_executor(port);
}

}  // namespace
}  // namespace npu::test

NPU_KERNEL(npu::test::run)
