// SPDX-License-Identifier: Apache-2.0
// In front of every source of this folder (CMakeLists.txt): whoever returns the code for parameters
// that the library refuses by itself leaves the function's name for aclGetRecentErrMsg().
#pragma once

#include <acl/acl_base.h>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

inline aclError refused(const char* function) {
  refused_call() = function;
  return ACL_ERROR_INVALID_PARAM;
}

}  // namespace npu::compat

#undef ACL_ERROR_INVALID_PARAM
#define ACL_ERROR_INVALID_PARAM (::npu::compat::refused(__func__))
