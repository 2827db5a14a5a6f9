// SPDX-License-Identifier: Apache-2.0
// The program headers of a shared object, read without trusting a byte of it.
#pragma once

#include <elf.h>

#include <optional>
#include <vector>

#include "npu/base/byte_span.hpp"

namespace npu::driver {

// Nothing if `object` is no 64-bit ELF object that holds its whole table. Where the segments lie is
// unchecked.
std::optional<std::vector<Elf64_Phdr>> elf_segments(ConstByteSpan object);

}  // namespace npu::driver
