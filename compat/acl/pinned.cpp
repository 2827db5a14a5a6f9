// SPDX-License-Identifier: Apache-2.0
#include "compat/client/pinned.hpp"

#include <acl/acl_rt.h>

extern "C" {

aclError aclrtMallocHost(void** address, size_t size) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::allocate_pinned(address, size);
}

aclError aclrtFreeHost(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::free_pinned(address);
}

aclError aclrtHostRegister(void* address, uint64_t size, uint32_t type, void** device_address) {
  constexpr uint32_t kMapped = 0;  // ACL_HOST_REGISTER_MAPPED
  if (address == nullptr || size == 0 || type != kMapped || device_address == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const int status = npu::compat::register_pinned(address, size);
  if (status == ACL_SUCCESS) *device_address = address;
  return status;
}

aclError aclrtHostUnregister(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::unregister_pinned(address);
}

}  // extern "C"
