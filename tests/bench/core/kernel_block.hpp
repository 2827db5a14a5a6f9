// SPDX-License-Identifier: Apache-2.0
// A block of a program, as the command processor would launch it.
#pragma once

#include "model/core/kernel_port.hpp"

namespace npu::test {

inline model::KernelBlock program_block(std::uint64_t image, std::uint64_t arguments,
                                        std::uint64_t context, unsigned block, unsigned blocks,
                                        model::SpaceId vmid = 0) {
  model::KernelBlock kernel;
  kernel.image = image;
  kernel.arguments = arguments;
  kernel.context = context;
  kernel.block = block;
  kernel.blocks = blocks;
  kernel.vmid = vmid;
  return kernel;
}

}  // namespace npu::test
