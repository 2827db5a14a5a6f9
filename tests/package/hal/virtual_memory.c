/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory behind address ranges; the same piece by its number at a second place. */
#include <string.h>

#include "check.h"

int main(void) {
  const struct drv_mem_prop prop = {MEM_DEV_SIDE, 0, 0, MEM_HUGE_PAGE_TYPE, MEM_HBM_TYPE, 0};
  struct drv_mem_access_desc access = {MEM_ACCESS_TYPE_READ, {0, MEM_DEV_SIDE}, {0, 0}};
  drv_mem_handle_t *memory = NULL, *again = NULL;
  void *range = NULL, *second = NULL;
  size_t grain = 0;
  uint64_t number = 0;
  char there[64] = "hal", back[64] = "";
  OK(drvDeviceOpen(NULL, 0));
  OK(halMemGetAllocationGranularity(&prop, MEM_ALLOC_GRANULARITY_MINIMUM, &grain));
  OK(halMemAddressReserve(&range, 2 * grain, 0, NULL, 0));
  OK(halMemCreate(&memory, grain, &prop, 0));
  OK(halMemMap(range, grain, 0, memory, 0));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemMap(range, grain, 0, memory, 0));
  OK(drvMemcpy((DVdeviceptr)range, grain, (DVdeviceptr)there, sizeof there));
  OK(halMemExportToShareableHandle(memory, MEM_HANDLE_TYPE_NONE, 0, &number));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemImportFromShareableHandle(number + 1, 0, &again));
  OK(halMemSetAccess(range, grain, &access, 1));
  access.type = MEM_ACCESS_TYPE_READWRITE;
  OK(halMemSetAccess(range, grain, &access, 1));
  OK(drvMemcpy((DVdeviceptr)back, sizeof back, (DVdeviceptr)range, sizeof back));
  REQUIRE(strcmp(there, back) == 0);
  OK(halMemAddressReserve(&second, grain, 0, NULL, 0));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemAddressFree(range));
  OK(halMemUnmap(range));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemUnmap(range));
  OK(halMemAddressFree(range));
  OK(halMemAddressFree(second));
  OK(halMemRelease(memory));
  EXPECT(DRV_ERROR_INVALID_HANDLE, halMemRelease(memory));
  return end_right();
}
