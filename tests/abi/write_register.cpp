// SPDX-License-Identifier: Apache-2.0
// Compiled by two tests of tests/abi: with NPU_TEST_REGISTER a register that may be written, which
// must compile, and with one that may not, which must not.
#include "npu/abi/registers.hpp"
#include "npu/platform/memory.hpp"

void write(npu::platform::MmioRegion& region) {
  npu::platform::write_register(region, npu::abi::NPU_TEST_REGISTER::from_raw(1));
}
