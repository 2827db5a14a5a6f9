/* SPDX-License-Identifier: Apache-2.0 */
/* Everything there is of a thing, and the code when it is used up. */
#include <string.h>

#include "check.h"

#define MOST 70000

static aclrtStream streams[MOST];
static aclrtEvent events[MOST];

int main(void) {
  int count = 0;
  aclError got = ACL_SUCCESS;
  size_t free_before = 0, free_after = 0, total = 0;
  void* memory = NULL;
  open_device();
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
  while (count < MOST && (got = aclrtCreateStream(&streams[count])) == ACL_SUCCESS) ++count;
  REQUIRE(got == ACL_ERROR_RT_NO_STREAM_RESOURCE && count >= 16);
  while (count > 0) OK(aclrtDestroyStream(streams[--count]));
  OK(aclrtCreateStream(&streams[0]));
  OK(aclrtDestroyStream(streams[0]));
  while (count < MOST && (got = aclrtCreateEvent(&events[count])) == ACL_SUCCESS) ++count;
  REQUIRE(got == ACL_ERROR_RT_NO_EVENT_RESOURCE && count == 65535);
  while (count > 0) OK(aclrtDestroyEvent(events[--count]));
  OK(aclrtCreateEvent(&events[0]));
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&memory, total, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
  REQUIRE(free_before - free_after < (size_t)64 << 20);
  return end_right();
}
