// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/aicore/test_program.hpp"

extern "C" __attribute__((visibility("default"))) int npu_aicore_main(
    npu::platform::AicorePort& port) {
  const auto& body = *reinterpret_cast<const npu::test::Body*>(port.call().arguments);
  return body(port);
}
