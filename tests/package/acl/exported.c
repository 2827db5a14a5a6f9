/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a program exports and imports itself: handles of the same memory, which goes with the
   last of them. */
#include <string.h>

#include "check.h"

#define GRAIN ((size_t)2 << 20)

static int byte_at(const char* address) {
  unsigned char byte = 0;
  OK(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}

int main(void) {
  char* range = NULL;
  size_t before = 0;
  uint64_t number = 0, again = 0;
  aclrtPhysicalMemProp memory = {0};
  aclrtDrvMemHandle handles[3];
  memory.memAttr = ACL_HBM_MEM_HUGE;
  memory.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  open_device();
  OK(aclrtReserveMemAddress((void**)&range, 3 * GRAIN, 0, NULL, 0));
  before = free_memory();
  for (int round = 0; round < 20; ++round) {
    OK(aclrtMallocPhysical(&handles[0], GRAIN, &memory, 0));
    OK(aclrtMemExportToShareableHandle(handles[0], ACL_MEM_HANDLE_TYPE_NONE, 0, &number));
    OK(aclrtMemExportToShareableHandle(handles[0], ACL_MEM_HANDLE_TYPE_NONE, 0, &again));
    REQUIRE(number == again);
    for (int i = 1; i < 3; ++i) OK(aclrtMemImportFromShareableHandle(number, 0, &handles[i]));
    REQUIRE(handles[0] != handles[1] && handles[1] != handles[2]);
    for (int i = 0; i < 3; ++i) OK(aclrtMapMem(range + (size_t)i * GRAIN, GRAIN, 0, handles[i], 0));
    OK(aclrtMemset(range + GRAIN, GRAIN, round, GRAIN));
    REQUIRE(byte_at(range) == round && byte_at(range + 3 * GRAIN - 1) == round);
    OK(aclrtFreePhysical(handles[0]));
    EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(handles[0]));
    OK(aclrtUnmapMem(range));
    OK(aclrtMapMem(range, GRAIN, 0, handles[1], 0));
    REQUIRE(byte_at(range) == round);
    REQUIRE(before - free_memory() == GRAIN);
    for (int i = 0; i < 3; ++i) OK(aclrtUnmapMem(range + (size_t)i * GRAIN));
    for (int i = 1; i < 3; ++i) OK(aclrtFreePhysical(handles[i]));
    REQUIRE(free_memory() == before);
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(number, 0, &handles[0]));
  }
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(UINT64_MAX, 0, &handles[0]));
  OK(aclrtReleaseMemAddress(range));
  return end_right();
}
