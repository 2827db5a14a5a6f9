// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/stream.h>

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtStreamCreate(stream, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtStreamCreateWithFlags(stream, static_cast<int32_t>(priority), flag);
}

aclError aclrtDestroyStream(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtStreamDestroy(stream);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtStreamDestroyForce(stream);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return rtStreamSynchronize(stream);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return rtStreamSynchronizeWithTimeout(stream, timeout);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError asked = rtStreamQuery(stream);
  if (asked != ACL_SUCCESS && asked != ACL_ERROR_RT_STREAM_NOT_COMPLETE) return asked;
  *status = asked == ACL_SUCCESS ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtStreamWaitEvent(stream, event);
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  if (mode > 1) return ACL_ERROR_INVALID_PARAM;
  return rtStreamSetMode(stream, mode);
}

}  // extern "C"
