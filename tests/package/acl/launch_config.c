/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices: arguments put together one by one, a configuration, cube and vector cores
   in one stream. */

#include "spin.h"

#define SIDE 64

static void* on_card(const void* from, size_t size) {
  void* device = device_memory(size);
  OK(aclrtMemcpy(device, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
  return device;
}

static aclrtArgsHandle arguments_of(aclrtFuncHandle function, void* args, size_t size) {
  aclrtArgsHandle handle = NULL;
  aclrtParamHandle parameter = NULL;
  OK(aclrtKernelArgsInit(function, &handle));
  OK(aclrtKernelArgsAppend(handle, args, size, &parameter));
  OK(aclrtKernelArgsFinalize(handle));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsAppend(handle, args, size, &parameter));
  return handle;
}

int main(void) {
  static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
  aclrtStream stream = NULL;
  for (int i = 0; i < SIDE * SIDE; ++i) {
    a[i] = (float)(i % 5);
    b[i] = (float)(i % 3);
  }
  open_device();
  OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH));
  void* const da = on_card(a, sizeof a);
  void* const db = on_card(b, sizeof b);
  void* const dc = on_card(c, sizeof c);
  aclrtFuncHandle matmul = built_in("matmul");
  aclrtFuncHandle add = built_in("add");
  npusim_matmul_args product = {(uint64_t)da, (uint64_t)db, (uint64_t)dc, SIDE,
                                SIDE,         SIDE,         ACL_FLOAT};
  npusim_elementwise_args twice = {(uint64_t)dc, (uint64_t)dc, (uint64_t)dc, SIDE * SIDE,
                                   ACL_FLOAT};
  aclrtLaunchKernelAttr attribute = {ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, {0}};
  aclrtLaunchKernelCfg config = {&attribute, 1}, wrong = {NULL, 1};
  aclrtArgsHandle args = arguments_of(matmul, &product, sizeof product);
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtLaunchKernelWithConfig(matmul, 4, stream, &wrong, args, NULL));
  OK(aclrtLaunchKernelWithConfig(matmul, 4, stream, &config, args, NULL));
  OK(aclrtLaunchKernelWithHostArgs(add, 4, stream, NULL, &twice, sizeof twice, NULL, 0));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(c, sizeof c, dc, sizeof c, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int row = 0; row < SIDE; ++row) {
    for (int column = 0; column < SIDE; ++column) {
      float sum = 0;
      for (int k = 0; k < SIDE; ++k) sum += a[row * SIDE + k] * b[k * SIDE + column];
      REQUIRE(c[row * SIDE + column] == 2 * sum);
    }
  }
  return end_right();
}
