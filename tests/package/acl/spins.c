/* SPDX-License-Identifier: Apache-2.0 */
/* spins LAUNCHES CLOCKS [MIB]: kernels of so many clocks, one after another, and how long all of
   them took; with a size, what there is of memory is at most that and no more can be had. */
#include <acl/npusim_kernels.h>
#include <string.h>

#include "check.h"

static void fill_memory(size_t mib) {
  size_t before = 0, total = 0, after = 0;
  void* more = NULL;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  REQUIRE(total == mib << 20 && before <= total);
  void* half = device_memory(total / 2);
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  REQUIRE(before - after >= total / 2);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION,
         aclrtMalloc(&more, after + ((size_t)2 << 20), ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtFree(half));
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? atoi(argv[1]) : 10;
  const npusim_spin_args args = {argc > 2 ? strtoull(argv[2], NULL, 10) : 20000};
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  float milliseconds = 0;
  open_device();
  if (argc > 3) fill_memory((size_t)atoi(argv[3]));
  aclrtStream stream = new_stream();
  aclrtEvent begin = new_event();
  aclrtEvent end = new_event();
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  OK(aclrtRecordEvent(begin, stream));
  for (int i = 0; i < launches; ++i) OK(aclrtLaunchKernel(spin, 4, &args, sizeof args, stream));
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtSynchronizeEvent(end));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtBinaryUnLoad(binary));
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  printf("took %.6f\n", (double)milliseconds);
  puts("right");
  return 0;
}
