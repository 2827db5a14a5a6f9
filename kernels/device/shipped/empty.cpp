// SPDX-License-Identifier: Apache-2.0
// A kernel that does nothing: what is left is what dispatching costs.
#include "npu/aicore/kernel.hpp"

namespace {

int empty(npu::platform::AicorePort&) {
  return 0;
}

}  // namespace

NPU_KERNEL(empty)
