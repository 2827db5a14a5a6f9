// SPDX-License-Identifier: Apache-2.0
// The assembler that makes code count its instructions (kernels/counting/), where it was built or
// installed beside a program or library.
#pragma once

#include <string>

namespace npu::operators {

// Its folder, for -B; empty: this build has none, or it is not there.
std::string counting_assembler(const std::string& beside);

}  // namespace npu::operators
