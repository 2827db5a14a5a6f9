// SPDX-License-Identifier: Apache-2.0
// The templates, and what they are compiled with.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "npu/jit/toolchain.hpp"

namespace npu::operators {

// `compiler`: empty for $NPUSIM_JIT_CXX, or else the compiler that built this library.
// `root`: the folder above kernels/device/operators; empty for $NPUSIM_OPERATORS_DIR, or else a
// folder beside the installed program or above the build folder. Headers are in its `include`, or
// where an installation has them. What the compiler that built this library makes counts its
// instructions, if this library's build does (kernels/counting/); what another compiler makes does
// not, and they take no time. kNotFound: the templates are not there.
Result<jit::Toolchain> find_toolchain(const std::string& compiler = "",
                                      const std::string& root = "");

// Whether what it makes counts its instructions.
bool counts_instructions(const jit::Toolchain& toolchain);

}  // namespace npu::operators
