// SPDX-License-Identifier: Apache-2.0
// What the HAL's and the runtime's device information can ask for, as the ACL numbers it.
#pragma once

#include <cstdint>

namespace npu::compat {

// aclrtDevAttr of a module's number of cores; 0: there is none.
inline std::uint64_t core_attribute(std::int32_t module, std::int32_t info) {
  constexpr std::int32_t kCores = 3, kAiCpu = 1, kAiCore = 4, kVectorCore = 7;
  if (info != kCores) return 0;
  switch (module) {
    case kAiCpu:
      return 1;
    case kAiCore:
      return 101;
    case kVectorCore:
      return 201;
    default:
      return 0;
  }
}

}  // namespace npu::compat
