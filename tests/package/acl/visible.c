/* SPDX-License-Identifier: Apache-2.0 */
/* visible COUNT: uses each device that it may see, of which there are so many, in their order. */
#include "check.h"

static void look(int32_t device) {
  int32_t now = -1;
  aclrtContext context;
  aclrtPtrAttributes attributes;
  OK(aclrtSetDevice(device));
  OK(aclrtGetDevice(&now));
  REQUIRE(now == device);
  void* memory = device_memory(4096);
  OK(aclrtPointerGetAttributes(memory, &attributes));
  REQUIRE(attributes.location.id == (uint32_t)device);
  OK(aclrtMemset(memory, 4096, 1, 4096));
  OK(aclrtCreateContext(&context, device));
  OK(aclrtGetDevice(&now));
  REQUIRE(now == device);
}

int main(int argc, char** argv) {
  uint32_t count = 77;
  aclrtContext context;
  int64_t cores;
  OK(aclInit(NULL));
  const int32_t seen = argc > 1 ? atoi(argv[1]) : 1;
  EXPECT(seen == 0 ? ACL_ERROR_RT_NO_DEVICE : ACL_SUCCESS, aclrtGetDeviceCount(&count));
  REQUIRE(count == (uint32_t)seen);
  for (int32_t device = 0; device < seen; ++device) look(device);
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(seen));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(seen));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, seen));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID,
         aclrtGetDeviceInfo((uint32_t)seen, ACL_DEV_ATTR_AICORE_CORE_NUM, &cores));
  return end_right();
}
