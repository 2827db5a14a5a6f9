/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between cards of memory that the program maps itself: what is mapped at an address now
   counts, and a copy may cover several mappings. */
#include <string.h>

#include "check.h"

#define GRAIN ((size_t)2 << 20)

static aclrtDrvMemHandle physical(int device) {
  aclrtPhysicalMemProp memory = {0};
  aclrtDrvMemHandle handle = NULL;
  memory.memAttr = ACL_HBM_MEM_HUGE;
  memory.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  memory.location.id = (uint32_t)device;
  OK(aclrtMallocPhysical(&handle, GRAIN, &memory, 0));
  return handle;
}

static int byte_at(const char* address) {
  unsigned char byte = 0;
  OK(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}

int main(void) {
  char* range = NULL;
  aclrtDrvMemHandle parts[3];
  open_device();
  char* own = device_memory(4 * GRAIN);
  OK(aclrtMemset(own, 4 * GRAIN, 1, 4 * GRAIN));
  OK(aclrtSetDevice(1));
  OK(aclrtReserveMemAddress((void**)&range, 3 * GRAIN, 0, NULL, 0));
  for (int i = 0; i < 3; ++i) parts[i] = physical(1);
  for (int i = 0; i < 2; ++i) OK(aclrtMapMem(range + (size_t)i * GRAIN, GRAIN, 0, parts[i], 0));
  /* Card 0 copies over the border of two mappings, in both directions. */
  OK(aclrtSetDevice(0));
  OK(aclrtMemcpy(range, GRAIN, own, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  OK(aclrtMemcpy(range, 2 * GRAIN, own, 2 * GRAIN, ACL_MEMCPY_DEVICE_TO_DEVICE));
  REQUIRE(byte_at(range) == 1 && byte_at(range + GRAIN - 1) == 1);
  REQUIRE(byte_at(range + GRAIN) == 1 && byte_at(range + 2 * GRAIN - 1) == 1);
  OK(aclrtMemset(range, 2 * GRAIN, 2, 2 * GRAIN));
  OK(aclrtMemcpy(own, GRAIN, range + GRAIN / 2, GRAIN, ACL_MEMCPY_DEVICE_TO_DEVICE));
  REQUIRE(byte_at(own) == 2 && byte_at(own + GRAIN - 1) == 2 && byte_at(own + GRAIN) == 1);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpy(range, 3 * GRAIN, own, 3 * GRAIN, ACL_MEMCPY_DEVICE_TO_DEVICE));
  /* Other memory comes where the first was. */
  OK(aclrtSetDevice(1));
  OK(aclrtUnmapMem(range));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(own, 1, range, 1, ACL_MEMCPY_DEVICE_TO_DEVICE));
  OK(aclrtMapMem(range, GRAIN, 0, parts[2], 0));
  OK(aclrtMemset(range, GRAIN, 3, GRAIN));
  OK(aclrtSetDevice(0));
  OK(aclrtMemcpy(own, GRAIN, range, GRAIN, ACL_MEMCPY_DEVICE_TO_DEVICE));
  REQUIRE(byte_at(own) == 3 && byte_at(own + GRAIN - 1) == 3);
  OK(aclrtMemset(own, GRAIN, 4, GRAIN));
  OK(aclrtMemcpy(range, GRAIN, own, GRAIN, ACL_MEMCPY_DEVICE_TO_DEVICE));
  REQUIRE(byte_at(range) == 4);
  /* The memory goes when nothing is mapped of it any more. */
  for (int i = 0; i < 3; ++i) OK(aclrtFreePhysical(parts[i]));
  OK(aclrtUnmapMem(range));
  OK(aclrtUnmapMem(range + GRAIN));
  OK(aclrtSetDevice(1));
  OK(aclrtReleaseMemAddress(range));
  return end_right();
}
