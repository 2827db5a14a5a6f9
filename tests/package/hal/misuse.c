/* SPDX-License-Identifier: Apache-2.0 */
/* What each misuse says. */
#include "check.h"

#define BAD DRV_ERROR_INVALID_VALUE
#define NOT DRV_ERROR_NOT_SUPPORT

static void before_a_device_is_open(void) {
  void* memory = NULL;
  struct MemInfo info;
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemAlloc(&memory, 4096, MEM_DEV));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemAlloc(&memory, 4096, MEM_HOST));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &info));
  EXPECT(DRV_ERROR_INVALID_DEVICE, drvDeviceOpen(NULL, 77));
  EXPECT(DRV_ERROR_INVALID_DEVICE, drvDeviceClose(0));
}

static void devices(void) {
  uint32_t ids[2];
  int64_t value = 0;
  bool matched = false;
  char name[4];
  struct drv_process_status_output out;
  EXPECT(BAD, drvGetDevNum(NULL));
  EXPECT(BAD, drvGetDevIDs(ids, 2));
  EXPECT(BAD, drvGetDevIDs(NULL, 1));
  EXPECT(BAD, halGetDeviceInfo(0, MODULE_TYPE_AICORE, INFO_TYPE_CORE_NUM, NULL));
  EXPECT(NOT, halGetDeviceInfo(0, MODULE_TYPE_SYSTEM, INFO_TYPE_VERSION, &value));
  EXPECT(DRV_ERROR_INVALID_DEVICE,
         halGetDeviceInfo(7, MODULE_TYPE_AICORE, INFO_TYPE_CORE_NUM, &value));
  EXPECT(BAD, halGetSocVersion(0, name, sizeof name));
  EXPECT(NOT, halCheckProcessStatusEx(0, PROCESS_CP2, STATUS_SVM_PAGE_FALUT_ERR_CNT, &out));
  EXPECT(NOT, halCheckProcessStatusEx(0, PROCESS_CP1, STATUS_NOMEM, &out));
  EXPECT(BAD, halCheckProcessStatusEx(0, PROCESS_CP1, STATUS_SVM_PAGE_FALUT_ERR_CNT, NULL));
  OK(halCheckProcessStatus(0, PROCESS_CP1, STATUS_SVM_PAGE_FALUT_ERR_OCCUR, &matched));
  REQUIRE(!matched);
  EXPECT(NOT, halQueueInit(0));
}

static void memory(void) {
  char host[8] = "";
  void *memory = NULL, *none = NULL;
  struct memcpy_info wrong = {DRV_MEMCPY_HOST_TO_DEVICE, 0, {0, 0}};
  struct MemInfo info;
  EXPECT(BAD, halMemAlloc(NULL, 4096, MEM_DEV));
  EXPECT(BAD, halMemAlloc(&memory, 0, MEM_DEV));
  EXPECT(NOT, halMemAlloc(&memory, 4096, MEM_HOST_AGENT));
  EXPECT(NOT, halMemAlloc(&memory, 4096, MEM_HOST_UVA));
  EXPECT(NOT, halMemAlloc(&memory, 4096, MEM_DEV | 22ull << MEM_ALIGN_BIT));
  EXPECT(DRV_ERROR_INVALID_MALLOC_TYPE, halMemAlloc(&memory, 4096, 9ull << MEM_VIRT_BIT));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemAlloc(&memory, 4096, MEM_DEV | 5));
  EXPECT(DRV_ERROR_OUT_OF_MEMORY, halMemAlloc(&memory, 1ull << 50, MEM_DEV));
  OK(halMemAlloc(&memory, 4096, MEM_DEV));
  EXPECT(BAD, drvMemcpy((DVdeviceptr)memory, 4, (DVdeviceptr)host, 8));
  EXPECT(BAD, drvMemcpy(0, 8, (DVdeviceptr)host, 8));
  EXPECT(NOT, halMemcpy(memory, 8, host, 8, &wrong));
  EXPECT(BAD, halMemcpy(host, 8, memory, 8, NULL));
  EXPECT(BAD, drvMemsetD8((DVdeviceptr)memory, 4, 0, 8));
  EXPECT(BAD, drvMemGetAttribute((DVdeviceptr)memory, NULL));
  EXPECT(NOT, halMemGetInfo(0, 9, &info));
  EXPECT(BAD, halMemFree(NULL));
  EXPECT(BAD, halMemFree((char*)memory + 64));
  OK(halMemFree(memory));
  EXPECT(BAD, halMemFree(memory));
  EXPECT(NOT, halMemAddressReserve(&none, 2 << 20, 0, memory, 0));
  EXPECT(BAD, halMemAddressReserve(&none, 3, 0, NULL, 0));
}

static void managed(void) {
  void *memory = NULL, *device = NULL;
  const struct drv_uvm_location nowhere = {DRV_UVM_LOCATION_TYPE_INVALID, 0};
  struct drv_uvm_location card = {DRV_UVM_LOCATION_TYPE_DEVICE, 0};
  int32_t value = 0;
  void* data = &value;
  size_t size = 2, index = 1;
  uint32_t attribute = MEM_RANGE_ATTR_READ_MOSTLY;
  OK(halMemAlloc(&memory, 2 << 20, MEM_UVM));
  OK(halMemAlloc(&device, 2 << 20, MEM_DEV));
  DVdeviceptr at = (DVdeviceptr)memory;
  size_t bytes = 2 << 20;
  EXPECT(BAD, halMemManagedPrefetch(at, bytes, nowhere, 0));
  EXPECT(BAD, halMemManagedPrefetch(at, bytes, card, 1));
  EXPECT(BAD, halMemManagedPrefetch((DVdeviceptr)device, bytes, card, 0));
  EXPECT(BAD, halMemManagedPrefetch(at, 3 * bytes, card, 0));
  EXPECT(BAD, halMemManagedAdvise(at, bytes, 6, card));
  EXPECT(BAD, halMemManagedAdvise(at, bytes, PREFER_LOCATION, nowhere));
  EXPECT(BAD, halMemManagedRangeGetAttributes(&data, &size, &attribute, 1, at, bytes));
  size = sizeof value;
  attribute = 9;
  EXPECT(BAD, halMemManagedRangeGetAttributes(&data, &size, &attribute, 1, at, bytes));
  EXPECT(BAD, halMemManagedPrefetchBatch(&at, &bytes, 1, &card, &index, 1, 0));
  EXPECT(BAD, halMemManagedPrefetchBatch(&at, &bytes, 4097, &card, &index, 1, 0));
}

static void shared(void) {
  void* memory = NULL;
  char name[NPU_HAL_NAME_LENGTH];
  DVdeviceptr opened = 0;
  int id = 1;
  OK(halMemAlloc(&memory, 4096, MEM_DEV));
  const DVdeviceptr at = (DVdeviceptr)memory;
  EXPECT(BAD, halShmemCreateHandle(at, 4096, name, 64));
  EXPECT(BAD, halShmemCreateHandle(at + 64, 64, name, sizeof name));
  EXPECT(BAD, halShmemOpenHandle("nobody", &opened));
  OK(halShmemCreateHandle(at, 4096, name, sizeof name));
  EXPECT(BAD, halShmemSetPidHandle("nobody", &id, 1));
  EXPECT(BAD, halShmemSetPidHandle(name, &id, 0));
  OK(halShmemSetPidHandle(name, &id, 1));
  EXPECT(BAD, halShmemCloseHandle(at));
  OK(halShmemDestroyHandle(name));
  EXPECT(BAD, halShmemDestroyHandle(name));
}

int main(void) {
  before_a_device_is_open();
  OK(drvDeviceOpen(NULL, 0));
  devices();
  memory();
  managed();
  shared();
  return end_right();
}
