/* SPDX-License-Identifier: Apache-2.0 */
/* quota MIB: by whichever call of the runtime memory is asked for, the one that would pass the
   quota is the first to be refused, and what is free is what is left of it. */
#include <string.h>

#include "check.h"

#define MIB ((size_t)1 << 20)
enum { kMost = 4096 };

static size_t quota;

static size_t left(void) {
  size_t free = 0, total = 0, free_again = 0, total_again = 0;
  OK(rtMemGetInfo(&free, &total));
  OK(rtMemGetInfoEx(RT_MEMORYINFO_HBM, &free_again, &total_again));
  REQUIRE(total == quota && total_again == quota && free == free_again);
  return free;
}

enum kind { kMalloc, kCached, kByPolicy, kPhysical };

static rtError_t get(enum kind kind, void** memory, size_t size) {
  rtDrvMemProp_t where;
  switch (kind) {
    case kMalloc:
      return rtMalloc(memory, size, RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_FIRST, 7);
    case kCached:
      return rtMallocCached(memory, size, RT_MEMORY_HBM, 7);
    case kByPolicy:
      return rtsMalloc(memory, size, RT_MEM_MALLOC_HUGE_ONLY, RT_MEM_ADVISE_NONE, NULL);
    default:
      memset(&where, 0, sizeof where);
      where.side = 1;
      return rtMallocPhysical((rtDrvMemHandle*)memory, size, &where, 0);
  }
}

static void give(enum kind kind, void* memory) {
  if (kind == kPhysical) {
    OK(rtFreePhysical((rtDrvMemHandle)memory));
  } else {
    OK(rtFree(memory));
  }
}

static void fill(enum kind kind, size_t size) {
  void *blocks[kMost], *more = NULL;
  REQUIRE(left() == quota);
  const size_t fits = quota / size;
  for (size_t i = 0; i < fits; ++i) OK(get(kind, &blocks[i], size));
  REQUIRE(left() == (quota - fits * size) / (2 * MIB) * (2 * MIB));
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, get(kind, &more, size));
  if (kind != kPhysical) { /* what works on memory needs none of the quota */
    unsigned char byte = 0;
    OK(rtMemset(blocks[0], size, 5, size));
    OK(rtMemcpy(&byte, 1, (char*)blocks[0] + size - 1, 1, RT_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(byte == 5);
  }
  for (size_t i = 0; i < fits; ++i) give(kind, blocks[i]);
  REQUIRE(left() == quota);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  quota = strtoull(argv[1], NULL, 10) * MIB;
  OK(rtSetDevice(0));
  fill(kMalloc, quota);
  fill(kMalloc, 64 * 1024);
  fill(kMalloc, MIB);
  fill(kMalloc, 4 * MIB);
  fill(kCached, 2 * MIB);
  fill(kByPolicy, 2 * MIB);
  fill(kPhysical, 4 * MIB);
  return end_right();
}
