// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/mem.h>

#include "apps/compat/acl/modules.hpp"

extern "C" {

aclError aclrtMallocHost(void** address, size_t size) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return rtMallocHost(address, size, npu::compat::kProgramModule);
}

aclError aclrtMallocHostWithCfg(void** address, uint64_t size, aclrtMallocConfig* config) {
  npu::compat::Allocation wanted;
  if (address == nullptr || size == 0 || !npu::compat::read(config, &wanted)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (wanted.same_address) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return rtMallocHost(address, size, wanted.module);
}

aclError aclrtFreeHost(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtFreeHost(address);
}

aclError aclrtHostRegister(void* address, uint64_t size, uint32_t type, void** device_address) {
  if (address == nullptr || size == 0 || type != RT_HOST_REGISTER_MAPPED ||
      device_address == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtHostRegister(address, size, RT_HOST_REGISTER_MAPPED, device_address);
}

aclError aclrtHostUnregister(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtHostUnregister(address);
}

}  // extern "C"
