/* SPDX-License-Identifier: Apache-2.0 */
/* Small allocations share pages of 2 MiB; what each policy takes of the card; what is refused. */
#include <acl/npusim_kernels.h>
#include <string.h>

#include "check.h"

#define MIB ((size_t)1 << 20)
enum { kCount = 3000 };

static void* get(size_t size, aclrtMemMallocPolicy policy) {
  void* memory = NULL;
  OK(aclrtMalloc(&memory, size, policy));
  REQUIRE((uintptr_t)memory % 64 == 0);
  return memory;
}

/* Each keeps its bytes. */
static void many(void) {
  static void* blocks[kCount];
  unsigned char bytes[64];
  const size_t before = free_memory();
  for (int i = 0; i < kCount; ++i) {
    blocks[i] = get(64, ACL_MEM_MALLOC_HUGE_FIRST);
    memset(bytes, i & 0xFF, sizeof bytes);
    if (i % 10 == 0) OK(aclrtMemcpy(blocks[i], 64, bytes, 64, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  REQUIRE(before - free_memory() == 2 * MIB);
  for (int i = 0; i < kCount; i += 10) {
    OK(aclrtMemcpy(bytes, 64, blocks[i], 64, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t j = 0; j < sizeof bytes; ++j) REQUIRE(bytes[j] == (i & 0xFF));
  }
  for (int i = 0; i < kCount; ++i) OK(aclrtFree(blocks[i]));
  REQUIRE(free_memory() == before);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(blocks[7]));
}

static void takes(size_t size, aclrtMemMallocPolicy policy, size_t expected) {
  const size_t before = free_memory();
  void* const memory = get(size, policy);
  REQUIRE(before - free_memory() == expected);
  OK(aclrtMemset((char*)memory + size - 1, 1, 1, 1));
  OK(aclrtFree(memory));
  REQUIRE(free_memory() == before);
}

static void policies(void) {
  takes(64, ACL_MEM_MALLOC_HUGE_FIRST, 2 * MIB);
  takes(MIB + 1, ACL_MEM_MALLOC_HUGE_FIRST, 2 * MIB);
  takes(4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, 6 * MIB); /* and 32 bytes */
  takes(4 * MIB + 1, ACL_MEM_MALLOC_HUGE_ONLY, 6 * MIB);
  takes(4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY, 6 * MIB);
  takes(64, ACL_MEM_MALLOC_HUGE1G_ONLY, 1024 * MIB);
  void* const whole = get(2 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
  takes(6 * MIB, ACL_MEM_MALLOC_HUGE_FIRST, 6 * MIB); /* whose page is there */
  OK(aclrtFree(whole));
  void* const other = get(MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
  takes(MIB / 2, ACL_MEM_MALLOC_HUGE_FIRST, 0);
  takes(64, ACL_MEM_MALLOC_HUGE_ONLY, 2 * MIB);
  takes(64, ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 2 * MIB);
  OK(aclrtFree(other));
}

/* An allocation ends where it was asked to, and is whole. */
static void misuse(void) {
  char* const memory = get(4096, ACL_MEM_MALLOC_HUGE_FIRST);
  void* const next = get(4096, ACL_MEM_MALLOC_HUGE_FIRST);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory + 64));
  OK(aclrtMemset(memory, 4096, 0, 4096));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 8192, 0, 8192));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(memory));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(memory));
  OK(aclrtFree(memory));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 1, 0, 1));
  OK(aclrtFree(next));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(memory));
}

int main(void) {
  open_device();
  many();
  policies();
  misuse();
  return end_right();
}
