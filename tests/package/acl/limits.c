/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, and limits of cores per device and stream. */
#include "check.h"

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

int main(void) {
  int64_t vectors = 0;
  uint32_t value = 0, devices = 0;
  size_t before = 0, after = 0, total = 0;
  void* memory = NULL;
  aclrtStream stream = NULL;
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
  OK(aclrtCreateStream(&stream));
  OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, (uint32_t)vectors));
  OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  limits_of_the_thread(stream, 2, (uint32_t)vectors);
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == (uint32_t)vectors);
  /* 32 bytes more than was asked for are a page more; or not. */
  REQUIRE(taken(aclrtMalloc) >= 2 * taken(aclrtMallocAlign32));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  OK(aclrtMalloc(&memory, (size_t)100 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  REQUIRE(before - after >= (size_t)100 << 20);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, total, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclFinalize());
  puts("right");
  return 0;
}
