/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, and limits of cores per device and stream. */
#include "check.h"

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
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == (uint32_t)vectors);
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  OK(aclrtMalloc(&memory, (size_t)100 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  REQUIRE(before - after >= (size_t)100 << 20);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, total, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclFinalize());
  puts("right");
  return 0;
}
