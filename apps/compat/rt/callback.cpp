// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <runtime/stream.h>

#include "apps/compat/rt/outcome.hpp"

using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::word;

extern "C" {

rtError_t rtSubscribeReport(uint64_t thread, rtStream_t stream) {
  if (thread == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSubscribeReport>({thread, word(stream), 0, 0});
}

rtError_t rtUnSubscribeReport(uint64_t thread, rtStream_t stream) {
  if (thread == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSubscribeReport>({thread, word(stream), 1, 0});
}

rtError_t rtCallbackLaunch(rtCallback_t call, void* data, rtStream_t stream, bool block) {
  if (call == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kLaunchCallback>(
      {reinterpret_cast<std::uintptr_t>(call), word(data), block, word(stream), 0});
}

rtError_t rtProcessReport(int32_t timeout) {
  std::uint64_t wire = 0;
  if (!npu::compat::wire_timeout(timeout, &wire)) return ACL_ERROR_RT_PARAM_INVALID;
  const auto self = static_cast<std::uint64_t>(::pthread_self());
  npu::compat::wire::DueCallback due;
  const rtError_t status = rt_ask<Call::kProcessReport>({self, wire, 0}, &due);
  if (status != RT_ERROR_NONE) return status;
  reinterpret_cast<rtCallback_t>(due.function)(npu::compat::pointer(due.parameter));
  return due.waiting == 0 ? RT_ERROR_NONE : rt_ask<Call::kCallbackDone>({due.waiting});
}

}  // extern "C"
