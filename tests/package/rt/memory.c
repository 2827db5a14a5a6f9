/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of memory, copies, queries, memory by modules. */
#include "check.h"

#include <string.h>

#define SIZE ((uint64_t)3 << 20)

static void copies(void* device, unsigned char* from, unsigned char* to) {
  void* pinned = NULL;
  OK(rtMallocHost(&pinned, SIZE, 7));
  OK(rtMemcpy(device, SIZE, from, SIZE, RT_MEMCPY_HOST_TO_DEVICE));
  OK(rtMemcpy(pinned, SIZE, device, SIZE, RT_MEMCPY_DEFAULT));
  REQUIRE(memcmp(pinned, from, SIZE) == 0);
  OK(rtMemcpyAsync(to, SIZE, device, SIZE, RT_MEMCPY_DEVICE_TO_HOST_EX, NULL));
  OK(rtStreamSynchronize(NULL));
  REQUIRE(memcmp(to, from, SIZE) == 0);
  OK(rtMemcpyAsync(device, 8, to, 8, RT_MEMCPY_HOST_TO_DEVICE_EX, NULL));
  memset(to, 0, 8);
  OK(rtStreamSynchronize(NULL));
  OK(rtMemcpy2d(to, 4, device, 8, 4, 2, RT_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(to, from, 4) == 0 && memcmp(to + 4, from + 8, 4) == 0);
  OK(rtMemset(device, SIZE, 0x5A, SIZE));
  OK(rtMemsetAsync(device, SIZE, 0x5B, 8, NULL));
  OK(rtStreamSynchronize(NULL));
  OK(rtMemcpy(to, SIZE, device, SIZE, RT_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(to[7] == 0x5B && to[8] == 0x5A);
  OK(rtFreeHost(pinned));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         rtMemcpy(device, 8, device, 8, RT_MEMCPY_ADDR_DEVICE_TO_DEVICE));
}

static void pointers(void* device, void* host) {
  rtPointerAttributes_t is;
  void* begin = NULL;
  size_t size = 0;
  OK(rtPointerGetAttributes(&is, device));
  REQUIRE(is.memoryType == RT_MEMORY_TYPE_DEVICE && is.locationType == RT_MEMORY_LOC_DEVICE);
  OK(rtPointerGetAttributes(&is, host));
  REQUIRE(is.memoryType == RT_MEMORY_TYPE_USER && is.locationType == RT_MEMORY_LOC_UNREGISTERED);
  OK(rtMemGetAddressRange((char*)device + 100, &begin, &size));
  REQUIRE(begin == device && size == SIZE);
  OK(rtMemGetAddressRange(device, NULL, &size));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtMemGetAddressRange(host, &begin, NULL));
}

/* The modules have what they were given and no more; the peak stays. */
static void modules(void) {
  rtMemUsageInfo_t info[4];
  size_t count = 0;
  void *few = NULL, *many = NULL, *managed = NULL;
  OK(rtMalloc(&few, 64, RT_MEMORY_HBM, 3));
  OK(rtMalloc(&many, SIZE, RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_FIRST, 45));
  OK(rtMemAllocManaged(&managed, (uint64_t)4 << 20, 1, 1000));
  OK(rtGetMemUsageInfo(0, info, 4, &count));
  REQUIRE(count == 4 && strcmp(info[0].name, "UNKNOWN") == 0 && info[0].curMemSize == 4 << 20);
  OK(rtMemFreeManaged(managed));
  OK(rtFree(many));
  OK(rtGetMemUsageInfo(0, info, 2, &count));
  REQUIRE(count == 2 && strcmp(info[0].name, "RUNTIME") == 0 && info[0].curMemSize == SIZE);
  REQUIRE(strcmp(info[1].name, "HCCL") == 0 && info[1].curMemSize == 64);
  OK(rtGetMemUsageInfo(0, info, 4, &count));
  REQUIRE(strcmp(info[3].name, "GE") == 0 && info[3].curMemSize == 0 &&
          info[3].memPeakSize == SIZE);
  OK(rtFree(few));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, rtGetMemUsageInfo(9, info, 4, &count));
}

int main(void) {
  unsigned char* const from = malloc(SIZE);
  unsigned char* const to = calloc(1, SIZE);
  void *device = NULL, *other = NULL;
  size_t free_before = 0, free_after = 0, total = 0;
  rtMallocAttribute_t attributes[3] = {{RT_MEM_MALLOC_ATTR_MODULE_ID, {7}},
                                       {RT_MEM_MALLOC_ATTR_DEVICE_ID, {0}},
                                       {RT_MEM_MALLOC_ATTR_VA_FLAG, {1}}};
  const rtMallocConfig_t config = {attributes, 3};
  for (size_t i = 0; i < SIZE; ++i) from[i] = (unsigned char)(i * 31 + i / 4093);
  OK(rtSetDevice(0));
  OK(rtMemGetInfo(&free_before, &total));
  OK(rtMalloc(&device, SIZE, RT_MEMORY_HBM, 7));
  OK(rtMemGetInfoEx(RT_MEMORYINFO_HBM, &free_after, &total));
  REQUIRE(free_before - free_after >= SIZE && total >= free_before);
  OK(rtMemGetInfoEx(RT_MEMORYINFO_DDR, &free_after, &total));
  REQUIRE(free_after == 0 && total == 0);
  copies(device, from, to);
  pointers(device, from);
  modules();
  OK(rtsMalloc(&other, 64, RT_MEM_MALLOC_HUGE_FIRST, RT_MEM_ADVISE_CACHED, &config));
  OK(rtFree(other));
  OK(rtMallocCached(&other, 64, RT_MEMORY_SVM, 7));
  OK(rtFree(other));
  OK(rtFree(device));
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, rtMalloc(&device, (uint64_t)1 << 50, RT_MEMORY_HBM, 0));
  return end_right();
}
