// SPDX-License-Identifier: Apache-2.0
// Finds what a kernel says of itself (abi/kernel_note.hpp) in the object it is registered from.
#pragma once

#include <optional>

#include "npu/abi/kernel_note.hpp"
#include "npu/base/byte_span.hpp"

namespace npu::driver {

// Nothing: it says nothing, or is no ELF object. The name ends with a zero and can be printed.
std::optional<abi::KernelNote> find_kernel_note(ConstByteSpan object);

}  // namespace npu::driver
