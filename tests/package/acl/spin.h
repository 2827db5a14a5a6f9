/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that keep a stream busy: what was submitted behind one has not begun. */
#ifndef SPIN_H
#define SPIN_H

#include <acl/npusim_kernels.h>

#include "check.h"

static inline aclrtFuncHandle built_in(const char* name) {
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle function = NULL;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, name, &function));
  return function;
}

/* For about so many microseconds. */
static inline void spin(aclrtFuncHandle function, aclrtStream stream, unsigned microseconds) {
  npusim_spin_args clocks = {(uint64_t)microseconds * 1800};
  OK(aclrtLaunchKernel(function, 1, &clocks, sizeof clocks, stream));
}

#endif
