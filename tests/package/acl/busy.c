/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the card has been: idle, its vector cores, memory in use. */
#include <acl/npusim_kernels.h>

#include "check.h"

int main(void) {
  const npusim_spin_args args = {200000};
  int64_t cores = 0;
  size_t free_memory = 0, total = 0;
  void* memory = NULL;
  aclrtUtilizationInfo idle, busy, again;
  aclrtStream stream = NULL;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  OK(aclrtGetDeviceUtilizationRate(0, &idle));
  REQUIRE(idle.cubeUtilization == 0 && idle.vectorUtilization == 0 && idle.memoryUtilization <= 1);
  OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
  OK(aclrtCreateStream(&stream));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_memory, &total));
  OK(aclrtMalloc(&memory, total / 2, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtGetDeviceUtilizationRate(0, &again));
  for (int i = 0; i < 20; ++i) OK(aclrtLaunchKernel(spin, (uint32_t)cores, &args, sizeof args, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtGetDeviceUtilizationRate(0, &busy));
  printf("cube %d vector %d aicpu %d memory %d\n", busy.cubeUtilization, busy.vectorUtilization,
         busy.aicpuUtilization, busy.memoryUtilization);
  REQUIRE(busy.vectorUtilization >= 90 && busy.vectorUtilization <= 100);
  REQUIRE(busy.memoryUtilization >= 49 && busy.memoryUtilization <= 52);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, NULL));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDeviceUtilizationRate(99, &busy));
  OK(aclFinalize());
  puts("right");
  return 0;
}
