/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations with a configuration; memory by modules; which allocation an address is of. */
#include <string.h>

#include "check.h"

static size_t used_by(const char* module) {
  aclrtMemUsageInfo info[16];
  size_t count = 0;
  OK(aclrtGetMemUsageInfo(0, info, 16, &count));
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(i == 0 || info[i].curMemSize <= info[i - 1].curMemSize);
    if (strcmp(info[i].name, module) == 0) return (size_t)info[i].curMemSize;
  }
  return 0;
}

static void misuse(void) {
  void* memory = NULL;
  size_t count = 0;
  aclrtMemUsageInfo info;
  aclrtMallocAttribute attribute = {(aclrtMallocAttrType)4, {0}};
  aclrtMallocConfig config = {NULL, 1};
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config));
  config.attrs = &attribute;
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config));
  attribute.attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  attribute.value.deviceId = 7;
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID,
         aclrtMallocWithCfg(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST, &config));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(NULL, 8, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(&memory, 8, (aclrtMemMallocPolicy)8, NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, NULL, 1, &count));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, &info, 0, &count));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetMemUsageInfo(-1, &info, 1, &count));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemGetAddressRange(&count, NULL, NULL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAddressRange(&count, &memory, NULL));
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMallocHostWithCfg(&memory, 8, &config));
}

int main(void) {
  char bytes[64] = "configured", back[64] = "";
  void *configured = NULL, *host = NULL, *begin = NULL;
  size_t size = 0;
  aclrtMallocAttribute attributes[3] = {{ACL_RT_MEM_ATTR_MODULE_ID, {0}},
                                        {ACL_RT_MEM_ATTR_DEVICE_ID, {0}},
                                        {ACL_RT_MEM_ATTR_VA_FLAG, {0}}};
  aclrtMallocConfig config = {attributes, 3};
  attributes[0].value.moduleId = 45;
  attributes[2].value.vaFlag = 1; /* which device memory does not know */
  open_device();
  void* plain = device_memory(1000);
  OK(aclrtMallocWithCfg(&configured, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &config));
  OK(aclrtMemcpy(configured, 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(back, 64, configured, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(strcmp(back, bytes) == 0);
  REQUIRE(used_by("APP") == 1056 && used_by("GE") == 96);
  OK(aclrtMemGetAddressRange((char*)plain + 999, &begin, &size));
  REQUIRE(begin == plain && size == 1056);
  config.numAttrs = 1;
  OK(aclrtMallocHostWithCfg(&host, 64, &config));
  memset(host, 1, 64);
  OK(aclrtFreeHost(host));
  misuse();
  OK(aclrtFree(configured));
  REQUIRE(used_by("GE") == 0);
  OK(aclrtFree(plain));
  OK(aclrtResetDevice(0));
  return end_right();
}
