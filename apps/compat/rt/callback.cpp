// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <runtime/stream.h>

#include "apps/compat/rt/outcome.hpp"

using npu::compat::answer;
using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::word;

extern "C" {

rtError_t rtSubscribeReport(uint64_t thread, rtStream_t stream) {
  if (thread == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask(Call::kSubscribeReport, {thread, word(stream), 0});
}

rtError_t rtUnSubscribeReport(uint64_t thread, rtStream_t stream) {
  if (thread == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask(Call::kSubscribeReport, {thread, word(stream), 1});
}

rtError_t rtCallbackLaunch(rtCallback_t call, void* data, rtStream_t stream, bool block) {
  if (call == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask(Call::kLaunchCallback, {reinterpret_cast<std::uintptr_t>(call), word(data),
                                        block ? 1U : 0U, word(stream)});
}

rtError_t rtProcessReport(int32_t timeout) {
  std::uint64_t wire = 0;
  if (!npu::compat::wire_timeout(timeout, &wire)) return ACL_ERROR_RT_PARAM_INVALID;
  const auto self = static_cast<std::uint64_t>(::pthread_self());
  const rtError_t status = rt_ask(Call::kProcessReport, {self, wire});
  if (status != RT_ERROR_NONE) return status;
  const auto function = reinterpret_cast<rtCallback_t>(static_cast<std::uintptr_t>(answer(0)));
  void* const data = npu::compat::pointer(answer(1));
  const auto waiting = answer(2);
  function(data);
  return waiting == 0 ? RT_ERROR_NONE : rt_ask(Call::kCallbackDone, {waiting});
}

}  // extern "C"
