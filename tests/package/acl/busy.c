/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the card has been: idle, its vector cores, memory in use. */

#include "spin.h"

int main(void) {
  const npusim_spin_args args = {200000};
  int64_t cores = 0;
  size_t free = 0, total = 0;
  aclrtUtilizationInfo idle, busy, again;
  open_device();
  OK(aclrtGetDeviceUtilizationRate(0, &idle));
  REQUIRE(idle.cubeUtilization == 0 && idle.vectorUtilization == 0 && idle.memoryUtilization <= 1);
  OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
  aclrtStream stream = new_stream();
  aclrtFuncHandle spin = built_in("spin");
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  device_memory(total / 2);
  OK(aclrtGetDeviceUtilizationRate(0, &again));
  for (int i = 0; i < 20; ++i)
    OK(aclrtLaunchKernel(spin, (uint32_t)cores, &args, sizeof args, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtGetDeviceUtilizationRate(0, &busy));
  printf("cube %d vector %d aicpu %d memory %d\n", busy.cubeUtilization, busy.vectorUtilization,
         busy.aicpuUtilization, busy.memoryUtilization);
  REQUIRE(busy.vectorUtilization >= 90 && busy.vectorUtilization <= 100);
  REQUIRE(busy.memoryUtilization >= 49 && busy.memoryUtilization <= 52);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, NULL));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDeviceUtilizationRate(99, &busy));
  return end_right();
}
