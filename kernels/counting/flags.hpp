// SPDX-License-Identifier: Apache-2.0
// What an instruction of x86-64 does with the arithmetic flags.
#pragma once

#include <string_view>

namespace npu::counting {

enum class Flags {
  kLeaves,  // or it is not known to do anything else
  kReads,
  kWrites,  // all that a later instruction may read
};

// As GCC writes them, AT&T syntax.
Flags flags_of(std::string_view mnemonic, std::string_view operands);

}  // namespace npu::counting
