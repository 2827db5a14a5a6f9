// SPDX-License-Identifier: Apache-2.0
#include <runtime/event.h>

#include "apps/compat/rt/outcome.hpp"

using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;
using npu::compat::wire::kForEver;

extern "C" {

rtError_t rtEventCreate(rtEvent_t* event) {
  return rt_ask_for<Call::kCreateEvent>(event);
}

rtError_t rtEventCreateWithFlag(rtEvent_t* event, uint32_t flag) {
  return rt_ask_for<Call::kCreateEvent>(event, {flag});
}

rtError_t rtEventCreateExWithFlag(rtEvent_t* event, uint32_t flag) {
  return rt_ask_for<Call::kCreateEvent>(event, {flag});
}

rtError_t rtEventDestroy(rtEvent_t event) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kDestroyEvent>({word(event)});
}

rtError_t rtEventRecord(rtEvent_t event, rtStream_t stream) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kRecordEvent>({word(event), word(stream)});
}

rtError_t rtEventReset(rtEvent_t event, rtStream_t stream) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kResetEvent>({word(event), word(stream)});
}

rtError_t rtEventQueryStatus(rtEvent_t event, rtEventStatus_t* status) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask_for<Call::kQueryEvent>(status, {word(event)});
}

rtError_t rtEventSynchronize(rtEvent_t event) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSynchronizeEvent>({word(event), kForEver});
}

rtError_t rtEventSynchronizeWithTimeout(rtEvent_t event, const int32_t timeout) {
  std::uint64_t wire = 0;
  if (event == nullptr || !npu::compat::wire_timeout(timeout, &wire)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  return rt_ask<Call::kSynchronizeEvent>({word(event), wire});
}

// The answer is in nanoseconds.
rtError_t rtEventElapsedTime(float* milliseconds, rtEvent_t start, rtEvent_t end) {
  if (milliseconds == nullptr || start == nullptr || end == nullptr) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  std::int64_t nanoseconds = 0;
  const rtError_t status =
      rt_ask_for<Call::kEventElapsedTime>(&nanoseconds, {word(start), word(end)});
  if (status != RT_ERROR_NONE) return status;
  *milliseconds = static_cast<float>(static_cast<double>(nanoseconds) / 1e6);
  return RT_ERROR_NONE;
}

}  // extern "C"
