/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory, advice, prefetch; address ranges and mappings. */
#include <string.h>

#include "check.h"

#define PAGE ((size_t)2 << 20)

static int32_t attribute_of(const void* address, int32_t attribute) {
  int32_t value = -9;
  OK(rtMemManagedGetAttr(attribute, address, PAGE, &value, sizeof value));
  return value;
}

static void managed(void) {
  const rtMemManagedLocation card = {RT_MEMORY_LOCATION_DEVICE, 0};
  void* memory = NULL;
  OK(rtMemAllocManaged(&memory, PAGE, 1, 0));
  OK(rtMemset(memory, PAGE, 1, PAGE));
  OK(rtMemManagedAdvise(memory, PAGE, 2, card));
  REQUIRE(attribute_of(memory, 5) == 0);
  OK(rtMemManagedPrefetchAsync(memory, PAGE, card, 0, NULL));
  REQUIRE(attribute_of(memory, 8) == 0);
  OK(rtMemFreeManaged(memory));
}

static void heap(void) {
  char bytes[8] = "heap", back[8] = "";
  size_t before = 0, after = 0, total = 0;
  void *memory = NULL, *fresh = NULL;
  OK(rtMemAllocManaged(&memory, PAGE, 0, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtMemPrefetchToDevice(memory, PAGE, 0)); /* it is nowhere */
  OK(rtMemcpy(memory, 8, bytes, 8, RT_MEMCPY_MANAGED));
  OK(rtMemPrefetchToDevice(memory, PAGE, 0));
  OK(rtMemcpy(back, 8, memory, 8, RT_MEMCPY_MANAGED));
  REQUIRE(strcmp(back, bytes) == 0);
  OK(rtMemAllocManaged(&fresh, PAGE, 0, 0));
  OK(rtMemGetInfo(&before, &total));
  OK(rtMemAdvise(fresh, PAGE, RT_ADVISE_DEV_MEM));
  OK(rtMemGetInfo(&after, &total));
  REQUIRE(before - after == PAGE);
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtMemAdvise(fresh, PAGE, RT_ADVISE_PERSISTENT));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtMemAllocManaged(&fresh, PAGE, 2, 0));
  OK(rtFree(fresh));
  OK(rtFree(memory));
}

static void mappings(void) {
  rtDrvMemProp_t on_card = {1, 0, 7, 1, 0, 0}, on_host = {0, 0, 0, 0, 0, 0};
  rtMemAccessDesc all = {RT_MEM_ACCESS_FLAGS_READWRITE, {0, RT_MEMORY_LOC_DEVICE}, {0}};
  rtDrvMemHandle handle = NULL, same = NULL;
  uint64_t number = 0;
  size_t grain = 0, size = 0;
  void *range = NULL, *begin = NULL;
  char back = 0;
  OK(rtMemGetAllocationGranularity(&on_card, RT_MEM_ALLOC_GRANULARITY_MINIMUM, &grain));
  REQUIRE(grain == PAGE);
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, rtMallocPhysical(&handle, PAGE, &on_host, 0));
  OK(rtMallocPhysical(&handle, PAGE, &on_card, 0));
  OK(rtReserveMemAddress(&range, PAGE, 0, NULL, 0));
  OK(rtMapMem(range, PAGE, 0, handle, 0));
  OK(rtMemSetAccess(range, PAGE, &all, 1));
  OK(rtMemset(range, PAGE, 7, PAGE));
  OK(rtMemcpy(&back, 1, (char*)range + 5, 1, RT_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(back == 7);
  OK(rtMemGetAddressRange((char*)range + 9, &begin, &size));
  REQUIRE(begin == range && size == PAGE);
  OK(rtMemExportToShareableHandle(handle, RT_MEM_HANDLE_TYPE_NONE, 0, &number));
  OK(rtMemImportFromShareableHandle(number, 0, &same));
  OK(rtUnmapMem(range));
  OK(rtReleaseMemAddress(range));
  OK(rtFreePhysical(same));
  OK(rtFreePhysical(handle));
}

int main(void) {
  OK(rtSetDevice(0));
  managed();
  heap();
  mappings();
  return end_right();
}
