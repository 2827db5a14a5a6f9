/* SPDX-License-Identifier: Apache-2.0 */
/* executes TIMES: does nothing that it could keep, and executes itself so often, from a process
 * with another thread in the midst of its calls. Each image begins anew, with all of the memory. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void* call(void* nothing) {
  for (;;) OK(aclrtSetDevice(0));
  return nothing;
}

int main(int argc, char** argv) {
  const size_t most = (size_t)40 << 30;
  const int left = argc > 1 ? atoi(argv[1]) : 3;
  int32_t device = -1;
  char word[16];
  pthread_t thread;
  OK(aclInit(NULL));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  OK(aclrtSetDevice(0));
  aclrtStream stream = new_stream();
  void* memory = device_memory(most);
  pinned_memory(4096);
  OK(aclrtMemsetAsync(memory, 1 << 20, 1, 1 << 20, stream));
  if (left > 0) {
    REQUIRE(pthread_create(&thread, NULL, call, NULL) == 0);
    OK(aclrtSynchronizeStream(stream));
    snprintf(word, sizeof word, "%d", left - 1);
    execl(argv[0], argv[0], word, (char*)NULL);
    return 1;
  }
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtFree(memory));
  OK(aclrtResetDevice(0));
  return end_right();
}
