/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that reach for what is not theirs; what their streams say, and that they go on. */

#include "spin.h"

static void elementwise(aclrtFuncHandle function, void* good) {
  const npusim_elementwise_args bad = {0x7000000000000, 0x7000000000000, 0, 1000, ACL_FLOAT};
  const npusim_elementwise_args args = {(uint64_t)good, (uint64_t)good, 0, 10, ACL_FLOAT};
  aclrtStream stream = new_stream();
  aclrtStream other = new_stream();
  OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, stream));
  OK(aclrtLaunchKernel(function, 1, &args, sizeof args, other));
  EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
  REQUIRE(aclGetRecentErrMsg()[0] != 0);
  OK(aclrtSynchronizeStream(other));
  OK(aclrtLaunchKernel(function, 1, &args, sizeof args, stream));
  OK(aclrtSynchronizeStream(stream));
  /* Two streams at once: each is told its own. */
  OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, stream));
  OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, other));
  EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(other));
  EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
}

static void product(aclrtFuncHandle function) {
  const npusim_matmul_args bad = {0x7000000000000, 0x7000000000000, 0x7000000000000, 64, 64, 64,
                                  ACL_FLOAT16};
  OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, NULL));
  EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeDevice());
}

/* Two errors, and a copy behind each of them. */
static void modes(aclrtFuncHandle function, void* good) {
  const npusim_elementwise_args bad = {0x7000000000000, 0x7000000000000, 0, 1000, ACL_FLOAT};
  aclrtStreamStatus status;
  for (uint64_t mode = ACL_CONTINUE_ON_FAILURE; mode <= ACL_STOP_ON_FAILURE; ++mode) {
    unsigned char bytes[64];
    aclrtStream stream = NULL;
    OK(aclrtMemset(good, 4096, 0, 4096));
    OK(aclrtCreateStream(&stream));
    OK(aclrtSetStreamFailureMode(stream, mode));
    OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, stream));
    OK(aclrtMemsetAsync(good, 4096, 1, 4096, stream));
    OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, stream));
    OK(aclrtMemsetAsync((char*)good + 32, 4064, 2, 32, stream));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
    REQUIRE(aclGetRecentErrMsg()[0] != 0);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtStreamQuery(stream, &status));
    OK(aclrtMemcpy(bytes, sizeof bytes, good, sizeof bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(bytes[0] == (mode == ACL_CONTINUE_ON_FAILURE ? 1 : 0));
    REQUIRE(bytes[32] == (mode == ACL_CONTINUE_ON_FAILURE ? 2 : 0));
    /* The last one is at fault. */
    OK(aclrtLaunchKernel(function, 1, &bad, sizeof bad, stream));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
    OK(aclrtMemsetAsync(good, 4096, 3, 4096, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(bytes, sizeof bytes, good, sizeof bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(bytes[0] == 3);
    OK(aclrtDestroyStream(stream));
  }
}

int main(void) {
  open_device();
  void* good = device_memory(4096);
  OK(aclrtMemset(good, 4096, 0, 4096));
  aclrtFuncHandle copy = built_in("copy");
  aclrtFuncHandle matmul = built_in("matmul");
  elementwise(copy, good);
  product(matmul);
  modes(copy, good);
  return end_right();
}
