// SPDX-License-Identifier: Apache-2.0
// The key of a kernel in KernelCache: its macros, the architecture and the kind of core.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "npu/base/result.hpp"
#include "npu/jit/export.hpp"

namespace npu::jit {

// Names and values for the compiler: -DNAME=VALUE. Sorted by bytes.
using Macros = std::map<std::string, std::string>;

enum class KernelType : std::uint8_t { kCube = 0, kVector = 1, kMixed = 2 };

// NAME=VALUE of all macros, __ARCH__ and __KT__ (0, 1, 2), sorted by bytes and joined by '&'.
// kInvalidArgument: a name is no C identifier or one of these two; a value contains a control
// character or '&', which would make the text ambiguous.
NPU_JIT_API Result<std::string> key_text(const Macros& macros, std::uint32_t architecture,
                                         KernelType type);

// SHA-256 of key_text() as 64 lower-case hexadecimal digits.
NPU_JIT_API Result<std::string> kernel_key(const Macros& macros, std::uint32_t architecture,
                                           KernelType type);

}  // namespace npu::jit
