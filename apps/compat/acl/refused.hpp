// SPDX-License-Identifier: Apache-2.0
// In front of every source of this folder (CMakeLists.txt): whoever returns the code for parameters
// that the library refuses by itself leaves the function's name for aclGetRecentErrMsg().
#pragma once

#include <acl/acl_base.h>

#include <cstdio>
#include <string>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

inline aclError refused(const char* function) {
  refused_call() = function;
  return ACL_ERROR_INVALID_PARAM;
}

// What the thread's last such call says in words of its own; refused_call() is this then.
inline char (&refused_words())[192] {
  static thread_local char words[192];
  return words;
}

// `code`, with words for aclGetRecentErrMsg().
inline aclError refused_with(aclError code, const std::string& words) {
  auto& to = refused_words();
  std::snprintf(to, sizeof to, "%s", words.c_str());
  refused_call() = to;
  return code;
}

}  // namespace npu::compat

#undef ACL_ERROR_INVALID_PARAM
#define ACL_ERROR_INVALID_PARAM (::npu::compat::refused(__func__))
