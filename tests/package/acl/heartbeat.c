/* SPDX-License-Identifier: Apache-2.0 */
/* heartbeat MILLISECONDS: waits so long for what nobody records, 0: for ever, while a thread does
 * nothing but sleep, again and again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void* beat(void* unused) {
  for (;;) REQUIRE(sleep(10) == 0);
  return unused;
}

int main(int argc, char** argv) {
  aclrtNotify never = NULL;
  pthread_t thread;
  const int32_t limit = argc > 1 ? (int32_t)atol(argv[1]) : 0;
  open_device();
  aclrtStream stream = new_stream();
  OK(aclrtCreateNotify(&never, 0));
  OK(aclrtWaitAndResetNotify(never, stream, 0));
  REQUIRE(pthread_create(&thread, NULL, beat, NULL) == 0);
  if (limit == 0) OK(aclrtSynchronizeStream(stream));
  for (int i = 0; i < 2; ++i) {
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, limit));
  }
  puts("right");
  fflush(stdout);
  _exit(0);
}
