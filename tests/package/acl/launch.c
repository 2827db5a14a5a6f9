/* SPDX-License-Identifier: Apache-2.0 */
/* A sum by a kernel that npusim brings along, launched and timed by events. */
#include <acl/npusim_kernels.h>

#include "check.h"

#define COUNT 100000

int main(void) {
  float* const a = malloc(COUNT * sizeof *a);
  float* const b = malloc(COUNT * sizeof *b);
  const size_t size = COUNT * sizeof *a;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle add = NULL;
  float milliseconds = 0;
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  open_device();
  aclrtStream stream = new_stream();
  aclrtEvent begin = new_event();
  aclrtEvent end = new_event();
  void* da = device_memory(size);
  void* db = device_memory(size);
  void* dc = device_memory(size);
  OK(aclrtMemcpyAsync(da, size, a, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtMemcpyAsync(db, size, b, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "none", &add));
  OK(aclrtBinaryGetFunction(binary, "add", &add));
  const npusim_elementwise_args args = {(uint64_t)dc, (uint64_t)da, (uint64_t)db, COUNT, ACL_FLOAT};
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernel(add, 8, &args, 3, stream));
  OK(aclrtRecordEvent(begin, stream));
  OK(aclrtLaunchKernel(add, 8, &args, sizeof args, stream));
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtSynchronizeEvent(end));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtMemcpy(b, size, dc, size, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < COUNT; ++i) REQUIRE(b[i] == (float)i + 0.5f);
  OK(aclrtBinaryUnLoad(binary));
  OK(aclrtDestroyEvent(begin));
  OK(aclrtDestroyEvent(end));
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  fprintf(stderr, "%.6f ms\n", (double)milliseconds);
  REQUIRE(milliseconds > 0);
  puts("right");
  return 0;
}
