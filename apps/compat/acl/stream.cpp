// SPDX-License-Identifier: Apache-2.0
#include <runtime/stream.h>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/pools.hpp"
#include "apps/compat/acl/printed.hpp"
#include "apps/compat/acl/values.hpp"

using npu::compat::tell_stream;
using npu::compat::told;

namespace {

// What kernels have printed comes out in front of what is told of a fault.
aclError waited(aclError status, aclrtStream stream) {
  if (status != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) npu::compat::print_of_stream(stream);
  npu::compat::trim_pools();
  return told(status);
}

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return aclrtCreateStreamWithConfig(stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError status = rtStreamCreateWithFlags(stream, static_cast<int32_t>(priority), flag);
  if (status == ACL_SUCCESS) tell_stream(*stream, ACL_RT_STREAM_STATE_CREATE_POST);
  return status;
}

aclError aclrtDestroyStream(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::finish_printing(stream);
  tell_stream(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  return rtStreamDestroy(stream);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::finish_printing(stream);
  tell_stream(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  return rtStreamDestroyForce(stream);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return waited(rtStreamSynchronize(stream), stream);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return waited(rtStreamSynchronizeWithTimeout(stream, timeout), stream);
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError asked = rtStreamQuery(stream);
  if (asked != ACL_SUCCESS && asked != ACL_ERROR_RT_STREAM_NOT_COMPLETE) {
    return told(asked);
  }
  *status = asked == ACL_SUCCESS ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto limit = npu::compat::wait_limit().load();
  if (limit == 0) return rtStreamWaitEvent(stream, event);
  return npu::compat::ask<npu::compat::Call::kStreamWaitEvent>(
      {npu::compat::word(stream), npu::compat::word(event), 0, limit});
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  if (mode > 1) return ACL_ERROR_INVALID_PARAM;
  return rtStreamSetMode(stream, mode);
}

}  // extern "C"
