// SPDX-License-Identifier: Apache-2.0
// Turns the assembly that GCC makes with -ffixed-r11 into assembly that counts its own
// instructions.
#pragma once

#include <string>
#include <string_view>

namespace npu::counting {

// The counter of a module: 8 bytes that all of its counted objects share and nobody else sees, and
// the function that says where it is.
inline constexpr std::string_view kCounter = "npu_instructions";
inline constexpr std::string_view kCounterAccess = "npu_instruction_counter";

// `assembly`: of one file for x86-64, AT&T syntax, that does not use r11. In front of each run of
// instructions that is entered at its begin only and left at its end only (a basic block, which
// here a call ends as well, for others may look when it is made) stands the addition of its
// instructions to the counter: one instruction where the flags hold nothing that is read, else by
// way of r11. Before a call of a function of library_calls.hpp stands the addition of what that
// takes. What was inserted is not counted.
std::string count_instructions(std::string_view assembly);

}  // namespace npu::counting
