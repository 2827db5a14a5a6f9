// SPDX-License-Identifier: Apache-2.0
// y = a x, in one task: words x, y, count, the bits of a.
#include "npu/driver/runtime.h"

extern "C" int build_scale(npu_runtime* runtime, const uint64_t* words, size_t count) {
  if (count != 4) return -1;
  const uint64_t bytes = 4 * words[2];
  const npu_task_argument arguments[] = {{words[1], NPU_ARGUMENT_OUTPUT, 0, bytes},
                                         {words[0], NPU_ARGUMENT_INPUT, 0, bytes},
                                         {words[2], NPU_ARGUMENT_SCALAR, 0, 0},
                                         {words[3], NPU_ARGUMENT_SCALAR, 0, 0}};
  return npu_add_task(runtime, 0, NPU_TASK_AIV, 1, arguments, 4) < 0 ? -1 : 0;
}
