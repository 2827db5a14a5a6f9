// SPDX-License-Identifier: Apache-2.0
// The access of a page fault, for a handler of SIGSEGV.
#pragma once

#include <ucontext.h>

namespace npu {

// `context`: the handler's third argument. True if the machine does not tell.
inline bool is_write_fault(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  static_cast<void>(context);
  return true;
#endif
}

}  // namespace npu
