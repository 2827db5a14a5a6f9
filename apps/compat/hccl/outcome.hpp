// SPDX-License-Identifier: Apache-2.0
// How calls end: npusim's codes (docs/sources/acl.md L3) as HCCL's, and lines for what a program
// cannot ask about.
#pragma once

#include <acl/acl_base.h>
#include <hccl/hccl_types.h>

#include <cstdio>

#include "apps/compat/client/request.hpp"

namespace npu::compat::hccl {

inline HcclResult result_of(int status) {
  constexpr int kSuspended = 107022, kRemote = 507057;
  switch (status) {
    case 0:
      return HCCL_SUCCESS;
    case kInvalidParameter:
    case kRuntimeParameter:
    case ACL_ERROR_RT_INVALID_HANDLE:
    case ACL_ERROR_RT_INVALID_DEVICEID:
      return HCCL_E_PARA;
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case kNotSupported:
      return HCCL_E_NOT_SUPPORT;
    case ACL_ERROR_RT_WAIT_TIMEOUT:
      return HCCL_E_TIMEOUT;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return HCCL_E_OOM;
    case ACL_ERROR_RT_CONTEXT_NULL:
    case ACL_ERROR_RT_STREAM_CONTEXT:
    case kInCall:
      return HCCL_E_RUNTIME;
    case ACL_ERROR_RT_RESOURCE_ALLOC_FAIL:
      return HCCL_E_UNAVAIL;
    case kSuspended:
      return HCCL_E_SUSPENDING;
    case kRemote:
      return HCCL_E_REMOTE;
    default:
      return HCCL_E_DRV;
  }
}

// A line on standard error.
template <class... Things>
HcclResult refuse(HcclResult result, const char* format, Things... things) {
  std::fputs("HCCL: ", stderr);
  std::fprintf(stderr, format, things...);
  std::fputc('\n', stderr);
  return result;
}

}  // namespace npu::compat::hccl
