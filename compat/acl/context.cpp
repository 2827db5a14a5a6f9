// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include "compat/acl/visible_devices.hpp"
#include "compat/client/request.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

extern "C" {

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  return ask_for(context, Call::kCreateContext, {npu::compat::machine_device(device)});
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kDestroyContext, {word(context)});
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSetCurrentContext, {word(context)});
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return ask_for(context, Call::kGetCurrentContext);
}

}  // extern "C"
