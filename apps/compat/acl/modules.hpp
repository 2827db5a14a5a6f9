// SPDX-License-Identifier: Apache-2.0
// What a configuration of an allocation says.
#pragma once

#include <acl/acl_rt_types.h>

#include <cstdint>

namespace npu::compat {

// The module (docs/sources/acl.md L7) of what a program allocates without saying which.
inline constexpr std::uint16_t kProgramModule = 33;

struct Allocation {
  std::uint16_t module = kProgramModule;
  std::int64_t device = -1;  // -1: the context's
  bool same_address = false;
};

// False: one without attributes but with a number of them, or an attribute that is none. Null: as
// if nothing was said.
inline bool read(const aclrtMallocConfig* config, Allocation* wanted) {
  if (config == nullptr || config->numAttrs == 0) return true;
  if (config->attrs == nullptr) return false;
  for (std::size_t i = 0; i < config->numAttrs; ++i) {
    const auto& each = config->attrs[i];
    switch (static_cast<int>(each.attr)) {
      case ACL_RT_MEM_ATTR_RSV:
        break;
      case ACL_RT_MEM_ATTR_MODULE_ID:
        wanted->module = each.value.moduleId;
        break;
      case ACL_RT_MEM_ATTR_DEVICE_ID:
        wanted->device = each.value.deviceId;
        break;
      case ACL_RT_MEM_ATTR_VA_FLAG:
        wanted->same_address = each.value.vaFlag != 0;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace npu::compat
