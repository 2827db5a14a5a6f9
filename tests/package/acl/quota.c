/* SPDX-License-Identifier: Apache-2.0 */
/* quota MIB: by whichever kind of call memory is asked for, the one that would pass the quota is
   the first to be refused, and what is free is what is left of it. */
#include <acl/npusim_memory.h>
#include <string.h>

#include "check.h"

#define MIB ((size_t)1 << 20)
enum { kMost = 4096 };

static size_t quota;

static size_t left(void) {
  size_t free = 0, total = 0;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  REQUIRE(total == quota);
  return free;
}

enum kind { kMalloc, kAligned, kCached, kPhysical, kKinds };

static aclError get(enum kind kind, void** memory, size_t size) {
  aclrtPhysicalMemProp where;
  switch (kind) {
    case kMalloc:
      return aclrtMalloc(memory, size, ACL_MEM_MALLOC_HUGE_FIRST);
    case kAligned:
      return aclrtMallocAlign32(memory, size, ACL_MEM_MALLOC_HUGE_FIRST);
    case kCached:
      return aclrtMallocCached(memory, size, ACL_MEM_MALLOC_NORMAL_ONLY);
    default:
      memset(&where, 0, sizeof where);
      where.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      return aclrtMallocPhysical((aclrtDrvMemHandle*)memory, size, &where, 0);
  }
}

static void give(enum kind kind, void* memory) {
  if (kind == kPhysical) {
    OK(aclrtFreePhysical((aclrtDrvMemHandle)memory));
  } else {
    OK(aclrtFree(memory));
  }
}

/* `each`: what one takes. */
static void fill(enum kind kind, size_t size, size_t each) {
  void *blocks[kMost], *more = NULL;
  const size_t before = left();
  REQUIRE(before == quota);
  const size_t fits = quota / each;
  for (size_t i = 0; i < fits; ++i) OK(get(kind, &blocks[i], size));
  REQUIRE(left() == (quota - fits * each) / (2 * MIB) * (2 * MIB));
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, get(kind, &more, size));
  npusim_memory_use use;
  OK(npusimGetMemoryUse(&use));
  REQUIRE(use.limit == quota && use.used == quota - left() && use.most >= use.used &&
          use.refused != 0);
  if (kind != kPhysical) { /* what works on memory needs none of the quota */
    unsigned char byte = 0;
    OK(aclrtMemset(blocks[0], size, 5, size));
    OK(aclrtMemcpy(&byte, 1, (char*)blocks[0] + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(byte == 5);
  }
  for (size_t i = 0; i < fits; ++i) give(kind, blocks[i]);
  REQUIRE(left() == before);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  quota = strtoull(argv[1], NULL, 10) * MIB;
  open_device();
  fill(kMalloc, quota, quota);
  fill(kMalloc, MIB, MIB + 64);
  fill(kMalloc, 64 * 1024, 64 * 1024 + 64);
  fill(kMalloc, 2 * MIB, 2 * MIB);
  fill(kMalloc, 3 * MIB, 4 * MIB);
  fill(kAligned, MIB, MIB);
  fill(kAligned, 8 * MIB, 8 * MIB);
  fill(kCached, 5 * MIB, 5 * MIB + 64);
  fill(kPhysical, 4 * MIB, 4 * MIB);
  return end_right();
}
