// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include "compat/client/request.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::kForEver;
using npu::compat::word;

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  return ask_for(stream, Call::kCreateStream, {0, 0});
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return ask_for(stream, Call::kCreateStream, {priority, flag});
}

aclError aclrtDestroyStream(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kDestroyStream, {word(stream)});
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kDestroyStreamForce, {word(stream)});
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return ask(Call::kSynchronizeStream, {word(stream), kForEver});
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSynchronizeStream,
             {word(stream), timeout < 0 ? kForEver : static_cast<std::uint64_t>(timeout)});
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return ask_for(status, Call::kStreamQuery, {word(stream)});
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kStreamWaitEvent, {word(stream), word(event)});
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  if (mode > 1) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSetStreamFailureMode, {word(stream), mode});
}

}  // extern "C"
