// SPDX-License-Identifier: Apache-2.0
// What a device context knows of its card and has uploaded to it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "npu/abi/kernel_note.hpp"
#include "npu/driver/device_context.hpp"

namespace npu::driver {

struct CoreCounts {
  unsigned clusters = 0;
  unsigned vector_cores = 0;  // of a cluster, beside its cube core
  unsigned aicpus = 0;

  std::uint32_t workers(unsigned block_dim) const { return block_dim * (1 + vector_cores); }
};

struct ProgramImage {
  DeviceAddress address{};               // 0: none
  std::uint32_t words = abi::kAnyWords;  // arguments of its tasks
  std::string name;                      // of a kernel that says it
};

struct Programs {
  ProgramImage scheduler, executor;
  std::map<std::uint32_t, ProgramImage> kernels;  // by KernelId
};

}  // namespace npu::driver
