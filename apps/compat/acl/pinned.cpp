// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/mem.h>

#include "apps/compat/acl/modules.hpp"
#include "apps/compat/client/pinned.hpp"

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

aclError aclrtHostRegisterV2(void* address, uint64_t size, uint32_t flags) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  if (flags == 0 || (flags & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0) {
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
  void* device_address = nullptr;
  if ((flags & ACL_HOST_REG_MAPPED) == 0) return npu::compat::register_pinned(address, size);
  return rtHostRegister(address, size, RT_HOST_REGISTER_MAPPED, &device_address);
}

aclError aclrtHostGetDevicePointer(void* host, void** device, uint32_t flags) {
  if (host == nullptr || device == nullptr || flags != 0) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::device_pointer(host, device);
}

aclError aclrtHostUnregister(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtHostUnregister(address);
}

}  // extern "C"
