// SPDX-License-Identifier: Apache-2.0
// What a compiler had to say, as one line for users.
#pragma once

#include <string>
#include <string_view>

namespace npu::jit {

// "FILE:LINE: REASON; compiler: first | lines | of it". FILE:LINE is where the compiler's output
// first names `template_path`, if it can be where the first error is: a macro's value that is wrong
// is told at the place that uses it. REASON is the first error.
std::string explain(std::string_view output, std::string_view template_path);

}  // namespace npu::jit
