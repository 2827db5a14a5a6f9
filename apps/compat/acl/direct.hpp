// SPDX-License-Identifier: Apache-2.0
// Calls of npusim that no function of the public runtime is for.
#pragma once

#include <acl/acl_rt.h>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

// A call that is answered with a message, and one word of it.
template <Call kCall, class T>
aclError ask_word(T* to, const Request<kCall>& request, std::uint64_t Answer<kCall>::*word) {
  if (to == nullptr) return ACL_ERROR_INVALID_PARAM;
  Answer<kCall> answer;
  const int status = ask<kCall>(request, &answer);
  if (status == ACL_SUCCESS) *to = static_cast<T>(answer.*word);
  return status;
}

// What is told of a fault calls the program's function for faults.
aclError told(aclError status);
// The program's functions for streams and devices that come and go.
void tell_stream(aclrtStream stream, aclrtStreamState state);
void tell_device(int32_t device, aclrtDeviceState state);

}  // namespace npu::compat
