/* SPDX-License-Identifier: Apache-2.0
 * leaks KIND: gives everything back but what KIND says, which the report names. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code) {
  if (code != ACL_SUCCESS) {
    fprintf(stderr, "leaks: %d: %s\n", code, aclGetRecentErrMsg());
    _Exit(1);
  }
}

int main(int count, char** words) {
  const char* const kind = count == 2 ? words[1] : "";
  void *memory = NULL, *managed = NULL, *pinned = NULL;
  aclrtStream stream = NULL;
  aclrtEvent events[3];
  check(aclInit(NULL));
  check(aclrtSetDevice(0));
  check(aclrtMalloc(&memory, 3 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  check(aclrtMemAllocManaged(&managed, 1 << 20, 1));
  check(aclrtMallocHost(&pinned, 8192));
  check(aclrtCreateStream(&stream));
  for (int i = 0; i < 3; ++i) check(aclrtCreateEvent(&events[i]));
  /* The default stream is the context's own. */
  check(aclrtMemsetAsync(memory, 4096, 1, 4096, NULL));
  check(aclrtRecordEvent(events[0], stream));
  check(aclrtSynchronizeDevice());
  if (strcmp(kind, "memory") != 0) check(aclrtFree(memory));
  if (strcmp(kind, "managed") != 0) check(aclrtFree(managed));
  if (strcmp(kind, "streams") != 0) check(aclrtDestroyStream(stream));
  for (int i = 0; i < 3; ++i) {
    if (strcmp(kind, "events") != 0) check(aclrtDestroyEvent(events[i]));
  }
  check(aclrtResetDevice(0));
  if (strcmp(kind, "pinned") != 0) check(aclrtFreeHost(pinned));
  check(aclFinalize());
  puts("right");
  return 0;
}
