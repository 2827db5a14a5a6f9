// SPDX-License-Identifier: Apache-2.0
// Cache maintenance: what is brought to the L2 before a kernel needs it.
#include <acl/acl.h>

#include "apps/compat/client/request.hpp"

using npu::compat::Call;
using npu::compat::word;

namespace {

// In device memory.
struct Description {
  uint64_t address = 0, size = 0;
};

// The documentation has more types than cards do.
aclError check(aclrtCmoType type) {
  if (type == ACL_RT_CMO_TYPE_PREFETCH) return ACL_SUCCESS;
  const bool known = type >= ACL_RT_CMO_TYPE_PREFETCH && type <= ACL_RT_CMO_TYPE_FLUSH;
  return known ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_ERROR_INVALID_PARAM;
}

aclError prefetch(const Description& what, aclrtStream stream) {
  return npu::compat::ask<Call::kPrefetch>({what.address, what.size, {1, word(stream)}});
}

bool is_aligned(const void* description) {
  return word(description) % alignof(Description) == 0;
}

}  // namespace

extern "C" {

aclError aclrtCmoAsync(void* address, size_t size, aclrtCmoType type, aclrtStream stream) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  const aclError status = check(type);
  if (status != ACL_SUCCESS) return status;
  return prefetch({word(address), size}, stream);
}

aclError aclrtCmoGetDescSize(size_t* size) {
  if (size == nullptr) return ACL_ERROR_INVALID_PARAM;
  *size = sizeof(Description);
  return ACL_SUCCESS;
}

aclError aclrtCmoSetDesc(void* description, void* address, size_t size) {
  if (description == nullptr || address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  if (!is_aligned(description)) return ACL_ERROR_RT_PARAM_INVALID;
  const Description what{word(address), size};
  return aclrtMemcpy(description, sizeof what, &what, sizeof what, ACL_MEMCPY_HOST_TO_DEVICE);
}

aclError aclrtCmoAsyncWithDesc(void* description, aclrtCmoType type, aclrtStream stream,
                               const void* reserved) {
  if (description == nullptr || reserved != nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_aligned(description)) return ACL_ERROR_RT_PARAM_INVALID;
  aclError status = check(type);
  Description what;
  if (status == ACL_SUCCESS) {
    status = aclrtMemcpy(&what, sizeof what, description, sizeof what, ACL_MEMCPY_DEVICE_TO_HOST);
  }
  if (status != ACL_SUCCESS) return status;
  return what.address == 0 || what.size == 0 ? ACL_ERROR_INVALID_PARAM : prefetch(what, stream);
}

}  // extern "C"
