/* SPDX-License-Identifier: Apache-2.0 */
/* A program that asks for more than it may have, and computes with what it gets: `layer QUOTA SIZE`
   runs with libnpushare.so in front (bytes). */
#include <string.h>

#include "spin.h"

#define COUNT 1000

int main(int argc, char** argv) {
  float values[COUNT];
  void* more = NULL;
  size_t free = 0, total = 0;
  REQUIRE(argc == 3);
  const size_t quota = strtoull(argv[1], NULL, 10), size = strtoull(argv[2], NULL, 10);
  size_t before = 0;
  open_device();
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  REQUIRE(free == quota && total == quota);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&more, quota + 32, ACL_MEM_MALLOC_HUGE_FIRST));
  void* a = device_memory(size);
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  REQUIRE(free == quota - size && total == quota);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION,
         aclrtMalloc(&more, quota - size + 32, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  /* In the last part of it: of managed memory only this much has a place. */
  char* const last = (char*)a + size - sizeof values;
  OK(aclrtMemcpy(last, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));
  aclrtFuncHandle add = built_in("add");
  const uint64_t at = (uint64_t)last;
  const npusim_elementwise_args twice = {at, at, at, COUNT, ACL_FLOAT};
  OK(aclrtLaunchKernel(add, 1, &twice, sizeof twice, NULL));
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemcpy(values, sizeof values, last, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < COUNT; ++i) REQUIRE(values[i] == 2 * (float)i);
  /* The kernel's code counts as well, where memory is the card's. */
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  OK(aclrtFree(a));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  REQUIRE(free == before + size && free <= quota && quota - free <= 2 << 20);
  return end_right();
}
