// SPDX-License-Identifier: Apache-2.0
// The function that one of ours hides: the next one of that name, as a rule the C library's.
#pragma once

#include <dlfcn.h>

namespace npu::compat {

template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace npu::compat
