/* SPDX-License-Identifier: Apache-2.0 */
/* managed_leaves MIB: managed memory fills the card, or the quota; memory that cannot leave, and
   kernels, get theirs all the same, and no byte is lost. */
#include <string.h>

#include "spin.h"

#define PAGE ((size_t)2 << 20)

static unsigned char page[PAGE];

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const size_t pages = (size_t)atoi(argv[1]) / 2;
  void* blocks[4] = {NULL};
  open_device();
  unsigned char* managed = managed_memory(pages * PAGE);
  for (size_t i = 0; i < pages; ++i) OK(aclrtMemset(managed + i * PAGE, PAGE, (int)i % 251, PAGE));
  for (int i = 0; i < 4; ++i) OK(aclrtMalloc(&blocks[i], 8 * PAGE - 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtStream stream = new_stream();
  aclrtFuncHandle copy = built_in("copy");
  const npusim_elementwise_args whole = {(uint64_t)(uintptr_t)blocks[3],
                                         (uint64_t)(uintptr_t)managed, 0, PAGE / 4, ACL_FLOAT};
  OK(aclrtLaunchKernel(copy, 4, &whole, sizeof whole, stream));
  OK(aclrtSynchronizeStream(stream));
  for (size_t i = 0; i < pages; ++i) {
    OK(aclrtMemcpy(page, PAGE, managed + i * PAGE, PAGE, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t at = 0; at < PAGE; at += 4096) REQUIRE(page[at] == i % 251);
  }
  /* More than can leave. */
  void* too_much = NULL;
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION,
         aclrtMalloc(&too_much, (size_t)1 << 40, ACL_MEM_MALLOC_HUGE_FIRST));
  return end_right();
}
