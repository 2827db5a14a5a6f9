/* SPDX-License-Identifier: Apache-2.0 */
/* Two pieces of physical memory behind one range of addresses. */
#include <string.h>

#include "check.h"

int main(void) {
  aclrtPhysicalMemProp properties = {0};
  aclrtMemAccessDesc access = {0};
  aclrtDrvMemHandle pieces[2] = {NULL, NULL};
  void* range = NULL;
  size_t grain = 0;
  open_device();
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  OK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &grain));
  OK(aclrtReserveMemAddress(&range, 2 * grain, 0, NULL, 0));
  for (int i = 0; i < 2; ++i) {
    OK(aclrtMallocPhysical(&pieces[i], grain, &properties, 0));
    OK(aclrtMapMem((char*)range + (size_t)i * grain, grain, 0, pieces[i], 0));
  }
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  access.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  OK(aclrtMemSetAccess(range, 2 * grain, &access, 1));
  char* const from = malloc(2 * grain);
  char* const to = calloc(1, 2 * grain);
  memset(from, 7, 2 * grain);
  OK(aclrtMemcpy(range, 2 * grain, from, 2 * grain, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(to, 2 * grain, range, 2 * grain, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(from, to, 2 * grain) == 0);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range));
  for (int i = 0; i < 2; ++i) {
    OK(aclrtUnmapMem((char*)range + (size_t)i * grain));
    OK(aclrtFreePhysical(pieces[i]));
  }
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(pieces[0]));
  OK(aclrtReleaseMemAddress(range));
  return end_right();
}
