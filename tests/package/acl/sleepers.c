/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that has not called sleeps in simulated time, too: the stream waits for what it does
   then. Times are simulated. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static aclrtContext context;
static aclrtStream gate;
static aclrtNotify notify;

static void* opens(void* milliseconds) {
  const long length = *(const long*)milliseconds;
  struct timespec time = {length / 1000, length % 1000 * 1000000};
  REQUIRE(nanosleep(&time, &time) == 0); /* as C++'s sleep_for() does */
  REQUIRE(time.tv_sec == 0 && time.tv_nsec == 0);
  OK(aclrtSetCurrentContext(context));
  OK(aclrtRecordNotify(notify, gate));
  OK(aclrtSynchronizeStream(gate));
  return NULL;
}

/* The wait for the notify, which may take ten seconds. */
static aclError wait_for(aclrtStream stream, long milliseconds) {
  pthread_t thread;
  OK(aclrtWaitAndResetNotify(notify, stream, 10));
  REQUIRE(pthread_create(&thread, NULL, opens, &milliseconds) == 0);
  const aclError status = aclrtSynchronizeStream(stream);
  REQUIRE(pthread_join(thread, NULL) == 0);
  return status;
}

int main(void) {
  open_device();
  OK(aclrtGetCurrentContext(&context));
  OK(aclrtCreateNotify(&notify, 0));
  gate = new_stream();
  aclrtStream stream = new_stream();
  OK(wait_for(stream, 9900));
  EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, wait_for(stream, 3600000));
  OK(aclrtDestroyStream(stream));
  OK(aclrtDestroyStream(gate));
  OK(aclrtDestroyNotify(notify));
  return end_right();
}
