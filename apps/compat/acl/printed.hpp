// SPDX-License-Identifier: Apache-2.0
// What kernels print comes out where the program waits for their stream or gives it back.
#pragma once

#include <acl/acl_base.h>

namespace npu::compat {

// Behind a wait for the stream that was not in vain; null: the default one of the context.
void print_of_stream(aclrtStream stream);
// In front of what gives the stream, or all of the device, back: waits for kernels that print.
void finish_printing(aclrtStream stream);
void finish_printing_of_device(int32_t device);
// Behind a wait for the thread's device.
void print_of_device();

}  // namespace npu::compat
