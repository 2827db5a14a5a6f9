/* SPDX-License-Identifier: Apache-2.0 */
/* Agents; copies by the card's engine; advice; which allocation an address is of; memory by
 * modules. */
#include <string.h>

#include "check.h"

#define PAGE ((size_t)2 << 20)
#define SIZE ((size_t)64 << 20)

static void agents(void) {
  void* memory = NULL;
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemAlloc(&memory, 64, MEM_DEV));
  OK(halMemAgentOpen(0, SVM_AGENT_DEVICE));
  OK(halMemAgentOpen(0, SVM_AGENT_DEVICE));
  OK(halMemAlloc(&memory, 64, MEM_DEV));
  OK(halMemAgentClose(0, SVM_AGENT_DEVICE));
  OK(halMemAgentClose(0, SVM_AGENT_DEVICE));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halMemAlloc(&memory, 64, MEM_DEV));
  OK(drvDeviceOpen(NULL, 0));
  OK(halMemAgentOpen(0, SVM_AGENT_HOST));
  OK(halMemAgentClose(0, SVM_AGENT_HOST)); /* whoever else has it open keeps it */
  OK(halMemAlloc(&memory, 64, MEM_DEV));
  OK(halMemFree(memory));
}

static void copies(void) {
  unsigned char* const bytes = malloc(SIZE);
  struct memcpy_info home = {DRV_MEMCPY_DEVICE_TO_HOST, 0, {0, 0}};
  void *from = NULL, *to = NULL;
  OK(halMemAlloc(&from, SIZE, MEM_DEV));
  OK(halMemAlloc(&to, SIZE, MEM_DEV));
  OK(drvMemsetD8((DVdeviceptr)from, SIZE, 0x3C, SIZE));
  OK(halSdmaCopy((DVdeviceptr)to, SIZE, (DVdeviceptr)from, SIZE));
  OK(halMemcpy(bytes, SIZE, to, SIZE, &home));
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(bytes[i] == 0x3C);
  free(bytes);
  OK(halMemFree(from));
  OK(halMemFree(to));
}

static void ranges(void) {
  void *device = NULL, *heap = NULL, *host = NULL;
  DVdeviceptr begin = 0;
  size_t size = 0;
  OK(halMemAlloc(&device, 3 * PAGE, MEM_DEV));
  OK(halMemAlloc(&heap, PAGE, MEM_SVM));
  OK(halMemAlloc(&host, 5000, MEM_HOST));
  OK(halMemGetAddressRange((DVdeviceptr)device + PAGE + 9, &begin, &size));
  REQUIRE(begin == (DVdeviceptr)device && size == 3 * PAGE);
  OK(halMemGetAddressRange((DVdeviceptr)heap + 9, &begin, NULL));
  REQUIRE(begin == (DVdeviceptr)heap);
  OK(halMemGetAddressRange((DVdeviceptr)host + 9, &begin, &size));
  REQUIRE(begin == (DVdeviceptr)host && size >= 5000);
  OK(halMemFree(device));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemGetAddressRange((DVdeviceptr)device, &begin, &size));
  OK(halMemFree(heap));
  OK(halMemFree(host));
}

static size_t free_memory(void) {
  struct MemInfo info;
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &info));
  return info.phy_info.huge_free;
}

static void advice(void) {
  void *heap = NULL, *device = NULL;
  unsigned char byte = 1;
  const DVdeviceptr own = (DVdeviceptr)&byte;
  OK(halMemAlloc(&heap, 2 * PAGE, MEM_SVM));
  OK(drvMemcpy((DVdeviceptr)heap + PAGE, 1, own, 1)); /* the second page is the host's */
  const size_t before = free_memory();
  OK(halMemAdvise((DVdeviceptr)heap, 2 * PAGE, ADVISE_DEV_MEM, 0));
  REQUIRE(before - free_memory() == PAGE);
  OK(halMemAlloc(&device, PAGE, MEM_DEV));
  OK(halMemAdvise((DVdeviceptr)device, PAGE, ADVISE_ACCESS_READONLY, 0));
  REQUIRE(drvMemcpy((DVdeviceptr)device, 1, own, 1) != DRV_ERROR_NONE);
  OK(halMemAdvise((DVdeviceptr)device, PAGE, ADVISE_ACCESS_READWRITE, 0));
  OK(drvMemcpy((DVdeviceptr)device, 1, own, 1));
  EXPECT(DRV_ERROR_NOT_SUPPORT, halMemAdvise((DVdeviceptr)device, PAGE, ADVISE_PERSISTENT, 0));
  EXPECT(DRV_ERROR_INVALID_VALUE, halMemAdvise((DVdeviceptr)device, PAGE, ADVISE_DEV_MEM, 0));
  EXPECT(DRV_ERROR_INVALID_VALUE,
         halMemAdvise((DVdeviceptr)device + 64, 64, ADVISE_ACCESS_READONLY, 0));
  OK(halMemFree(device));
  OK(halMemFree(heap));
}

static void modules(void) {
  struct mem_module_usage usage[8];
  size_t count = 0, hccl = 0, peak = 0;
  void *first = NULL, *second = NULL;
  OK(halMemAlloc(&first, PAGE, MEM_DEV | 3ull << MEM_MODULE_ID_BIT));
  OK(halMemAlloc(&second, PAGE, MEM_UVM | 3ull << MEM_MODULE_ID_BIT));
  OK(halMemFree(first));
  OK(halGetMemUsageInfo(0, usage, 8, &count));
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(usage[i].name, "HCCL") != 0) continue;
    hccl = usage[i].cur_mem_size;
    peak = usage[i].mem_peak_size;
  }
  REQUIRE(hccl == PAGE && peak == 2 * PAGE);
  OK(halMemFree(second));
}

int main(void) {
  agents();
  copies();
  ranges();
  advice();
  modules();
  return end_right();
}
