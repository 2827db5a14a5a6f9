// SPDX-License-Identifier: Apache-2.0
#include <runtime/stream.h>

#include "apps/compat/rt/outcome.hpp"

using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;
using npu::compat::wire::kForEver;

extern "C" {

rtError_t rtStreamCreate(rtStream_t* stream, int32_t priority) {
  return rt_ask_for<Call::kCreateStream>(stream, {static_cast<std::uint32_t>(priority), 0});
}

rtError_t rtStreamCreateWithFlags(rtStream_t* stream, int32_t priority, uint32_t flags) {
  return rt_ask_for<Call::kCreateStream>(stream, {static_cast<std::uint32_t>(priority), flags});
}

rtError_t rtStreamDestroy(rtStream_t stream) {
  if (stream == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kDestroyStream>({word(stream)});
}

rtError_t rtStreamDestroyForce(rtStream_t stream) {
  if (stream == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kDestroyStreamForce>({word(stream)});
}

rtError_t rtStreamSynchronize(rtStream_t stream) {
  return rt_ask<Call::kSynchronizeStream>({word(stream), kForEver});
}

rtError_t rtStreamSynchronizeWithTimeout(rtStream_t stream, int32_t timeout) {
  std::uint64_t wire = 0;
  if (!npu::compat::wire_timeout(timeout, &wire)) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSynchronizeStream>({word(stream), wire});
}

rtError_t rtStreamQuery(rtStream_t stream) {
  std::uint32_t not_ready = 0;
  const rtError_t status = rt_ask_for<Call::kStreamQuery>(&not_ready, {word(stream)});
  if (status != RT_ERROR_NONE || not_ready == 0) return status;
  return ACL_ERROR_RT_STREAM_NOT_COMPLETE;
}

rtError_t rtStreamWaitEvent(rtStream_t stream, rtEvent_t event) {
  if (event == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kStreamWaitEvent>({word(stream), word(event)});
}

rtError_t rtStreamSetMode(rtStream_t stream, const uint64_t mode) {
  if (mode > 1) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSetStreamFailureMode>({word(stream), mode});
}

}  // extern "C"
