// SPDX-License-Identifier: Apache-2.0
// Kernels and variables of objects that `npusim cc --host` makes, by what stands for them in the
// host's part.
#pragma once

#include <acl/npusim_kernels.h>

namespace npu::compat {

// Null: nothing is known by this address.
aclrtFuncHandle function_of(const void* symbol);

}  // namespace npu::compat
