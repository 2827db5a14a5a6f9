// SPDX-License-Identifier: Apache-2.0
// libascendcl's functions, behind those of this library that have the same names.
#pragma once

namespace npu::share {

// Null: there is no such function. `name` is one of those in kHooks (hooks.hpp).
void* real_function(const char* name);

// real("aclrtFree", &aclrtFree) is libascendcl's function of the type of the second argument.
template <class Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(real_function(name));
}

}  // namespace npu::share
