// SPDX-License-Identifier: Apache-2.0
// What a kernel is called by: its macros, the architecture and the kind of core it runs on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "npu/base/result.hpp"
#include "npu/jit/export.hpp"

namespace npu::jit {

// Names and values as the compiler gets them: -DNAME=VALUE. Sorted by bytes, whatever order they
// came in.
using Macros = std::map<std::string, std::string>;

enum class KernelType : std::uint8_t { kCube = 0, kVector = 1, kMixed = 2 };

// NAME=VALUE of all macros, of __ARCH__ and of __KT__ (0, 1, 2), sorted by bytes and joined by '&',
// none behind the last one. kInvalidArgument: a name is no C identifier or one of those two; a
// value has '&' in it, which would make two sets of macros the same text, or a control character.
NPU_JIT_API Result<std::string> key_text(const Macros& macros, std::uint32_t architecture,
                                         KernelType type);

// SHA-256 of key_text() as 64 lower-case hexadecimal digits.
NPU_JIT_API Result<std::string> kernel_key(const Macros& macros, std::uint32_t architecture,
                                           KernelType type);

}  // namespace npu::jit
