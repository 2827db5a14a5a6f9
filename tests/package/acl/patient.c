/* SPDX-License-Identifier: Apache-2.0 */
/* patient SECONDS: sleeps for ever but for a thread that sleeps so long, and then ends all. Waits
 * with time-outs of weeks end at their time. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

unsigned sleep(unsigned seconds);

static unsigned seconds;

static void* end(void* stream) {
  OK(aclrtSetDevice(0));
  /* 24 days: nobody records what it waits for. */
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 2000000000));
  REQUIRE(sleep(seconds) == 0);
  puts("right");
  fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  aclrtNotify never = NULL;
  pthread_t thread;
  seconds = argc > 1 ? (unsigned)atol(argv[1]) : 1;
  open_device();
  aclrtStream stream = new_stream();
  OK(aclrtCreateNotify(&never, 0));
  OK(aclrtWaitAndResetNotify(never, stream, 0));
  REQUIRE(pthread_create(&thread, NULL, end, stream) == 0);
  sleep(4294967295U); /* 136 years: beyond the end of simulated time */
  return 1;
}
