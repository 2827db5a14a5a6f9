// SPDX-License-Identifier: Apache-2.0
#include <runtime/context.h>

#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;

extern "C" {

rtError_t rtCtxCreateEx(rtContext_t* context, uint32_t flags, int32_t device) {
  static_cast<void>(flags);
  return rt_ask_for<Call::kCreateContext>(context, {npu::compat::machine_device(device)});
}

rtError_t rtCtxDestroyEx(rtContext_t context) {
  if (context == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kDestroyContext>({word(context)});
}

rtError_t rtCtxSetCurrent(rtContext_t context) {
  if (context == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kSetCurrentContext>({word(context)});
}

rtError_t rtCtxGetCurrent(rtContext_t* context) {
  return rt_ask_for<Call::kGetCurrentContext>(context);
}

rtError_t rtCtxSynchronize(void) {
  return rt_ask<Call::kSynchronizeDevice>({npu::compat::wire::kForEver});
}

}  // extern "C"
