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

}  // extern "C"
