// SPDX-License-Identifier: Apache-2.0
// What is declared so that programs can be linked: calls with nothing to do, and those of what
// npusim has no model of.
#include <acl/acl.h>

#define NPU_NOTHING_TO_DO(name, ...) \
  aclError name(__VA_ARGS__) {       \
    return ACL_SUCCESS;              \
  }
#define NPU_NOT_MODELLED(name, ...)   \
  aclError name(__VA_ARGS__) {        \
    return ACL_ERROR_API_NOT_SUPPORT; \
  }

extern "C" {

NPU_NOTHING_TO_DO(aclrtSetOpExecuteTimeOut, uint32_t)
NPU_NOTHING_TO_DO(aclrtSetDeviceSatMode, int32_t)
NPU_NOTHING_TO_DO(aclrtSetStreamOverflowSwitch, aclrtStream, uint32_t)

NPU_NOT_MODELLED(aclopSetModelDir, const char*)
NPU_NOT_MODELLED(aclopLoad, const void*, size_t)
NPU_NOT_MODELLED(aclmdlLoadFromFile, const char*, uint32_t*)
NPU_NOT_MODELLED(aclmdlUnload, uint32_t)

}  // extern "C"
