// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/stream.h>

extern "C" {

aclError aclrtSubscribeReport(uint64_t thread, aclrtStream stream) {
  if (thread == 0) return ACL_ERROR_INVALID_PARAM;
  return rtSubscribeReport(thread, stream);
}

aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream stream) {
  if (thread == 0) return ACL_ERROR_INVALID_PARAM;
  return rtUnSubscribeReport(thread, stream);
}

aclError aclrtLaunchCallback(aclrtCallback call, void* data, aclrtCallbackBlockType type,
                             aclrtStream stream) {
  if (call == nullptr || (type != ACL_CALLBACK_NO_BLOCK && type != ACL_CALLBACK_BLOCK)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtCallbackLaunch(call, data, stream, type == ACL_CALLBACK_BLOCK);
}

aclError aclrtProcessReport(int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return rtProcessReport(timeout);
}

}  // extern "C"
