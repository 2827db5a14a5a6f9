// SPDX-License-Identifier: Apache-2.0
// The templates, and what they are compiled with.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "npu/jit/toolchain.hpp"

namespace npu::operators {

// The folder above kernels/device/operators: $NPUSIM_OPERATORS_DIR, or else of the installation or
// the checkout that the program belongs to. kNotFound: the templates are not there.
Result<std::string> operators_root();

// `compiler`: empty for $NPUSIM_JIT_CXX, or else the compiler that built this library. Headers are
// in the root's `include`, or where an installation has them. What the compiler that built this
// library makes counts its instructions, if this library's build does (kernels/counting/); what
// another compiler makes does not, and they take no time. Errors: operators_root().
Result<jit::Toolchain> find_toolchain(const std::string& compiler = "");

// Whether what it makes counts its instructions.
bool counts_instructions(const jit::Toolchain& toolchain);

}  // namespace npu::operators
