/* SPDX-License-Identifier: Apache-2.0 */
/* Devices; memory of each kind, copies, what is said of pointers. */
#include <string.h>

#include "check.h"

#define SIZE ((size_t)3 << 20)

static uint32_t type_of(DVdeviceptr address) {
  struct DVattribute attribute;
  OK(drvMemGetAttribute(address, &attribute));
  return attribute.memType;
}

static void devices(void) {
  uint32_t count = 0, id = 9;
  int64_t cores = 0;
  char name[32] = "";
  OK(drvGetDevNum(&count));
  REQUIRE(count == 1);
  OK(drvGetDevIDs(&id, 1));
  REQUIRE(id == 0);
  OK(halGetDeviceInfo(0, MODULE_TYPE_VECTOR_CORE, INFO_TYPE_CORE_NUM, &cores));
  REQUIRE(cores > 1);
  OK(halGetDeviceInfo(0, MODULE_TYPE_AICORE, INFO_TYPE_CORE_NUM, &cores));
  REQUIRE(cores > 1);
  OK(drvDeviceOpen(NULL, 0));
  OK(halGetSocVersion(0, name, sizeof name));
  REQUIRE(strncmp(name, "Ascend9", 7) == 0);
}

static void copies(unsigned char* from, unsigned char* to) {
  void *device = NULL, *host = NULL;
  struct memcpy_info home = {DRV_MEMCPY_DEVICE_TO_HOST, 0, {0, 0}};
  OK(halMemAlloc(&device, SIZE, MEM_DEV | MEM_TYPE_HBM | MEM_PAGE_HUGE));
  OK(halMemAlloc(&host, SIZE, MEM_HOST));
  REQUIRE(type_of((DVdeviceptr)device) == DV_MEM_LOCK_DEV);
  REQUIRE(type_of((DVdeviceptr)host) == DV_MEM_LOCK_HOST);
  REQUIRE(type_of((DVdeviceptr)from) == DV_MEM_USER_MALLOC);
  OK(drvMemcpy((DVdeviceptr)device, SIZE, (DVdeviceptr)from, SIZE));
  OK(drvMemcpy((DVdeviceptr)host, SIZE, (DVdeviceptr)device, SIZE));
  REQUIRE(memcmp(host, from, SIZE) == 0);
  OK(halMemcpy(to, SIZE, device, SIZE, &home));
  REQUIRE(memcmp(to, from, SIZE) == 0);
  OK(drvMemsetD8((DVdeviceptr)device, SIZE, 0x5A, SIZE));
  OK(halMemcpy(to, SIZE, device, SIZE, &home));
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(to[i] == 0x5A);
  OK(halMemFree(host));
  OK(halMemFree(device));
}

static void sizes(void) {
  struct MemInfo before, after;
  void* device = NULL;
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &before));
  OK(halMemAlloc(&device, (size_t)64 << 20, MEM_DEV));
  OK(halMemGetInfoEx(0, MEM_INFO_TYPE_HBM_SIZE, &after));
  REQUIRE(before.phy_info.huge_free - after.phy_info.huge_free >= (size_t)64 << 20);
  REQUIRE(before.phy_info.huge_total == after.phy_info.huge_total);
  EXPECT(DRV_ERROR_OUT_OF_MEMORY, halMemAlloc(&device, after.phy_info.huge_total, MEM_DEV));
}

int main(void) {
  unsigned char* const from = malloc(SIZE);
  unsigned char* const to = calloc(1, SIZE);
  for (size_t i = 0; i < SIZE; ++i) from[i] = (unsigned char)(i * 31 + i / 4093);
  devices();
  copies(from, to);
  sizes();
  return end_right();
}
