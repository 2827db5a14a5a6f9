// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <pthread.h>

#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::Call;
using npu::compat::kForEver;
using npu::compat::word;

extern "C" {

aclError aclrtSubscribeReport(uint64_t thread, aclrtStream stream) {
  if (thread == 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSubscribeReport, {thread, word(stream), 0});
}

aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream stream) {
  if (thread == 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSubscribeReport, {thread, word(stream), 1});
}

aclError aclrtLaunchCallback(aclrtCallback call, void* data, aclrtCallbackBlockType type,
                             aclrtStream stream) {
  if (call == nullptr || (type != ACL_CALLBACK_NO_BLOCK && type != ACL_CALLBACK_BLOCK)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask(Call::kLaunchCallback, {reinterpret_cast<std::uintptr_t>(call), word(data),
                                     static_cast<std::uint64_t>(type), word(stream)});
}

aclError aclrtProcessReport(int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const auto self = static_cast<std::uint64_t>(::pthread_self());
  const int status = ask(Call::kProcessReport,
                         {self, timeout < 0 ? kForEver : static_cast<std::uint64_t>(timeout)});
  if (status != ACL_SUCCESS) return status;
  const auto function = reinterpret_cast<aclrtCallback>(static_cast<std::uintptr_t>(answer(0)));
  void* const data = npu::compat::pointer(answer(1));
  const auto waiting = answer(2);
  function(data);
  return waiting == 0 ? ACL_SUCCESS : ask(Call::kCallbackDone, {waiting});
}

}  // extern "C"
