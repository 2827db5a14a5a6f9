/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, and limits of cores per device and stream. */
#include "spin.h"

/* Bytes of the card's memory, which is of pages of 2 MiB. */
static size_t taken(aclError (*allocate)(void**, size_t, aclrtMemMallocPolicy)) {
  size_t before = 0, after = 0, total = 0;
  void* memory = NULL;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  OK(allocate(&memory, (size_t)2 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  OK(aclrtFree(memory));
  return before - after;
}

static void limits_of_the_thread(aclrtStream stream, uint32_t device, uint32_t own) {
  uint32_t value = 0;
  OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == device);
  OK(aclrtUseStreamResInCurrentThread(stream));
  OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == own);
  OK(aclrtUnuseStreamResInCurrentThread(stream));
  OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == device);
}

/* Kernels for all cores; ms. `limit`: set for the device when they are queued; 0: none. */
static float time_of_three(aclrtFuncHandle function, aclrtStream stream, uint32_t cores,
                           uint32_t limit) {
  aclrtEvent begin = NULL, end = NULL;
  npusim_spin_args clocks = {180000};
  float time = 0;
  OK(aclrtCreateEvent(&begin));
  OK(aclrtCreateEvent(&end));
  OK(aclrtRecordEvent(begin, stream));
  for (int i = 0; i < 3; ++i)
    OK(aclrtLaunchKernel(function, cores, &clocks, sizeof clocks, stream));
  if (limit != 0) OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, limit));
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtEventElapsedTime(&time, begin, end));
  OK(aclrtDestroyEvent(begin));
  OK(aclrtDestroyEvent(end));
  OK(aclrtResetDeviceResLimit(0));
  return time;
}

static void limits_hold_from_the_launch_on(uint32_t cores) {
  uint32_t value = 0;
  const aclrtFuncHandle function = built_in("spin");
  aclrtStream stream = new_stream();
  time_of_three(function, stream, cores, 0); /* its code is on the card from here on */
  const float free = time_of_three(function, stream, cores, 0);
  const float limited_later = time_of_three(function, stream, cores, cores / 3);
  REQUIRE(free > 0.29f && free < 0.35f);
  REQUIRE(limited_later < free * 1.05f && limited_later > free * 0.95f);
  /* A stream's own limit is its own, whatever the device's becomes. */
  OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 5));
  OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3));
  OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 5);
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 5);
  OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3));
  OK(aclrtResetStreamResLimit(stream));
  OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 3);
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtDestroyStream(stream));
}

int main(void) {
  int64_t vectors = 0;
  uint32_t value = 0, devices = 0;
  size_t before = 0, after = 0, total = 0;
  OK(aclInit(NULL));
  OK(aclrtGetDeviceCount(&devices));
  REQUIRE(devices == 1);
  OK(aclrtSetDevice(0));
  REQUIRE(aclrtGetSocName() != NULL);
  OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vectors));
  REQUIRE(vectors > 1);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, (uint32_t)vectors + 1));
  OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 2));
  aclrtStream stream = new_stream();
  OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, (uint32_t)vectors));
  OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  limits_of_the_thread(stream, 2, (uint32_t)vectors);
  limits_hold_from_the_launch_on((uint32_t)vectors);
  OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 2));
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == (uint32_t)vectors);
  /* 32 bytes more than was asked for are a page more; or not. */
  REQUIRE(taken(aclrtMalloc) >= 2 * taken(aclrtMallocAlign32));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  void* memory = device_memory((size_t)100 << 20);
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  REQUIRE(before - after >= (size_t)100 << 20);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, total, ACL_MEM_MALLOC_HUGE_FIRST));
  return end_right();
}
