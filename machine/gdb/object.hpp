// SPDX-License-Identifier: Apache-2.0
// Objects of programs: where they end in memory, and files of them.
#pragma once

#include <cstdint>
#include <string>

#include "npu/base/byte_span.hpp"

namespace npu::gdb {

// Of an ELF object that is loaded at `base`: behind its last byte; 0: it is none.
std::uint64_t end_of_object(std::uint64_t base);
// False: the disk has no room.
bool write_object(const std::string& path, ConstByteSpan bytes);

}  // namespace npu::gdb
