/* SPDX-License-Identifier: Apache-2.0 */
/* Both heaps of managed memory: where pages are, prefetch, advice, attributes, the counter. */
#include "check.h"

#define PAGE ((size_t)2 << 20)

static const struct drv_uvm_location card = {DRV_UVM_LOCATION_TYPE_DEVICE, 0};
static const struct drv_uvm_location host = {DRV_UVM_LOCATION_TYPE_HOST, 0};

static uint32_t type_of(void* address) {
  struct DVattribute attribute;
  OK(drvMemGetAttribute((DVdeviceptr)address, &attribute));
  return attribute.memType;
}

static void heap(int* value) {
  void* memory = NULL;
  OK(halMemAlloc(&memory, 2 * PAGE, MEM_SVM));
  const DVdeviceptr at = (DVdeviceptr)memory;
  REQUIRE(type_of(memory) == DV_MEM_SVM);
  /* Nobody has made it on the host. */
  EXPECT(DRV_ERROR_INVALID_VALUE, drvMemPrefetchToDevice(at, PAGE, 0));
  OK(drvMemcpy(at, sizeof *value, (DVdeviceptr)value, sizeof *value));
  REQUIRE(type_of(memory) == DV_MEM_SVM_HOST);
  EXPECT(DRV_ERROR_INVALID_VALUE, drvMemPrefetchToDevice(at + 64, PAGE, 0));
  OK(drvMemPrefetchToDevice(at, PAGE, 0));
  REQUIRE(type_of(memory) == DV_MEM_SVM_DEVICE);
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemManagedPrefetch(at, PAGE, card, 0));
  OK(halMemFree(memory));
}

static int32_t attribute(DVdeviceptr at, uint32_t which) {
  int32_t value = 99;
  void* data = &value;
  size_t size = sizeof value;
  OK(halMemManagedRangeGetAttributes(&data, &size, &which, 1, at, 2 * PAGE));
  return value;
}

static void uvm(int* value) {
  void* memory = NULL;
  int back = 0;
  struct drv_process_status_output errors = {99, {0}};
  OK(halMemAlloc(&memory, 2 * PAGE, MEM_UVM));
  const DVdeviceptr at = (DVdeviceptr)memory;
  REQUIRE(type_of(memory) == DV_MEM_UVM);
  EXPECT(DRV_ERROR_INVALID_VALUE, drvMemPrefetchToDevice(at, PAGE, 0));
  for (size_t page = 0; page < 2; ++page) {
    OK(drvMemcpy(at + page * PAGE, sizeof *value, (DVdeviceptr)value, sizeof *value));
  }
  OK(halMemManagedAdvise(at, 2 * PAGE, PREFER_LOCATION, card));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_PREFERRED_LOC) == 0);
  REQUIRE(attribute(at, MEM_RANGE_ATTR_PREFERRED_LOC_TYPE) == DRV_UVM_LOCATION_TYPE_DEVICE);
  OK(halMemManagedAdvise(at, 2 * PAGE, UNSET_PREFER_LOCATION, card));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_PREFERRED_LOC) == -2);
  DVdeviceptr addresses[2] = {at, at + PAGE};
  size_t sizes[2] = {PAGE, PAGE}, index[2] = {0, 1};
  struct drv_uvm_location places[2] = {card, host};
  OK(halMemManagedPrefetchBatch(addresses, sizes, 2, places, index, 2, 0));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_LAST_PREFETCH_LOC) == -2); /* one here, one there */
  OK(halMemManagedPrefetch(at, 2 * PAGE, card, 0));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_LAST_PREFETCH_LOC) == 0);
  OK(halMemManagedPrefetch(at, 2 * PAGE, host, 0));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_LAST_PREFETCH_LOC) == -1);
  OK(halMemManagedAdvise(at, 2 * PAGE, READ_MOSTLY, host));
  REQUIRE(attribute(at, MEM_RANGE_ATTR_READ_MOSTLY) == 1);
  OK(drvMemcpy((DVdeviceptr)&back, sizeof back, at + PAGE, sizeof back));
  REQUIRE(back == *value);
  OK(halCheckProcessStatusEx(0, PROCESS_CP1, STATUS_SVM_PAGE_FALUT_ERR_CNT, &errors));
  REQUIRE(errors.result == 0);
  OK(halMemFree(memory));
}

int main(void) {
  int value = 4711;
  OK(drvDeviceOpen(NULL, 0));
  heap(&value);
  uvm(&value);
  return end_right();
}
