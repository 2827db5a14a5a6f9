// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/context.h>

extern "C" {

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtCtxCreateEx(context, 0, device);
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtCtxDestroyEx(context);
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtCtxSetCurrent(context);
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtCtxGetCurrent(context);
}

}  // extern "C"
