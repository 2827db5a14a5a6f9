// SPDX-License-Identifier: Apache-2.0
// Host memory of a process on the card.
#pragma once

#include "npu/platform/platform.hpp"

namespace npu::driver {

// The process' queues alone reach `memory`, where the platform's IOMMU tells processes apart. Where
// it does not (Linux VFIO), the card sends no PASIDs, and every process of the function reaches it.
inline Status give_to_process(platform::Platform& platform, platform::DmaMemory& memory,
                              std::uint32_t pasid) {
  auto bound = platform.bind_pasid(memory, pasid);
  if (!bound && bound.error().code == ErrorCode::kUnsupported) return {};
  return bound;
}

}  // namespace npu::driver
