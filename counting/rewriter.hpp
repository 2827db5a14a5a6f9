// SPDX-License-Identifier: Apache-2.0
// Turns the assembly that GCC makes with -fsanitize-coverage=trace-pc into assembly that counts its
// own instructions.
#pragma once

#include <string>
#include <string_view>

namespace npu::counting {

// The counter of a module: 8 bytes that all of its counted objects share and nobody else sees, and
// the function that says where it is.
inline constexpr std::string_view kCounter = "npu_instructions";
inline constexpr std::string_view kCounterAccess = "npu_instruction_counter";

// `assembly`: of one file for x86-64, AT&T syntax. GCC calls a function at the beginning of each
// basic block, where neither flags nor the registers of a call hold anything; each such call
// becomes an addition of the block's instructions to the counter, as many as stand until the next
// one or the function's end; the first of a function bears its prologue. Before a call of a
// function of library_calls.hpp stands the addition of what that takes. What was inserted is not
// counted.
std::string count_instructions(std::string_view assembly);

}  // namespace npu::counting
