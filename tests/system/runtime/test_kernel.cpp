// SPDX-License-Identifier: Apache-2.0
#include "tests/system/runtime/test_kernel.hpp"

#include <limits>

#include "npu/aicore/kernel.hpp"

namespace npu::test {
namespace {

void wait_for(aicore::AicorePort& port, std::uint64_t address) {
  do {
    port.clean_invalidate(address);
  } while (port.load(address, 8) == 0 &&
           port.poll_again(std::numeric_limits<std::uint64_t>::max()));
}

int run(aicore::AicorePort& port) {
  const aicore::Arguments arguments(port, 3);
  const std::uint64_t address = arguments.word(1), value = arguments.word(2);
  switch (static_cast<KernelMode>(arguments.word(0))) {
    case KernelMode::kStore:
      port.store(address, 8, value);
      port.clean_invalidate(address);
      port.memory_barrier();
      return 0;
    case KernelMode::kReturn:
      return static_cast<int>(value);
    case KernelMode::kHang:
      wait_for(port, address);
      return 0;
    case KernelMode::kTrap:
      port.trap(static_cast<std::uint16_t>(value));
      break;  // it does not come back; the port's declaration says so
    case KernelMode::kWild: {
      platform::CopyIn copy;
      copy.from = address;
      copy.row_bytes = 64;
      port.issue(copy);
      port.pipe_barrier(platform::Pipe::kAll);
      return 0;
    }
    case KernelMode::kBeyond: {
      platform::CopyIn copy;
      copy.from = address;
      copy.row_bytes = 64;
      port.issue(copy);
      copy.to.offset = static_cast<std::uint32_t>(value);
      port.issue(copy);
      return 0;
    }
    case KernelMode::kMutual: {
      const auto scope = static_cast<platform::CrossScope>(value);
      port.wait_cross_flag(platform::Pipe::kScalar, scope, 1);
      port.set_cross_flag(platform::Pipe::kScalar, scope, 1);
      return 0;
    }
  }
  return -1;
}

}  // namespace
}  // namespace npu::test

NPU_KERNEL(npu::test::run)
