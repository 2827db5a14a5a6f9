/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that get pinned memory and give it back at the same times: what one gives back is no
 * other one's. */
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"

#define THREADS 4

static aclrtContext context;

static void* work(void* nothing) {
  void* pinned;
  OK(aclrtSetCurrentContext(context));
  aclrtStream stream = new_stream();
  void* memory = device_memory(4096);
  for (int i = 0; i < 20; ++i) {
    OK(aclrtMallocHost(&pinned, 4096));
    OK(aclrtMemcpyAsync(memory, 1, pinned, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtFreeHost(pinned));
  }
  return nothing;
}

int main(void) {
  pthread_t threads[THREADS];
  open_device();
  OK(aclrtGetCurrentContext(&context));
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return end_right();
}
