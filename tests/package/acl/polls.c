/* SPDX-License-Identifier: Apache-2.0 */
/* polls CALL: a thread repeats a call that has nothing to wait for, until another one has slept for
 * 100 us; prints how often. With `for_ever` it does
 * nothing else. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char* call;
static aclrtStream stream;
static aclrtEvent recorded, fresh;
static volatile int stop;
static long polls;

static int is(const char* name) {
  return strcmp(call, name) == 0;
}

static void* poll(void* nothing) {
  aclrtEventRecordedStatus event = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtStreamStatus state = ACL_STREAM_STATUS_NOT_READY;
  int32_t device = -1;
  uint32_t count = 0;
  size_t free_bytes = 0, total = 0;
  OK(aclrtSetDevice(0));
  for (; !stop; ++polls) {
    if (is("event")) OK(aclrtQueryEventStatus(recorded, &event));
    if (is("event")) REQUIRE(event == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    if (is("unrecorded")) OK(aclrtQueryEventStatus(fresh, &event));
    if (is("stream")) OK(aclrtStreamQuery(stream, &state));
    if (is("device")) OK(aclrtGetDevice(&device));
    if (is("count")) OK(aclrtGetDeviceCount(&count));
    if (is("memory")) OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    if (is("error")) EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceInfo(0, 77, NULL));
    if (is("wrong")) EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-3));
    if (is("error")) OK(aclrtGetDevice(&device));
  }
  return nothing;
}

int main(int argc, char** argv) {
  pthread_t thread;
  call = argc > 1 ? argv[1] : "event";
  open_device();
  OK(aclrtCreateStream(&stream));
  OK(aclrtCreateEvent(&recorded));
  OK(aclrtCreateEvent(&fresh));
  OK(aclrtRecordEvent(recorded, stream));
  OK(aclrtSynchronizeStream(stream));
  while (is("for_ever")) OK(aclrtDestroyEvent(recorded) + aclrtCreateEvent(&recorded));
  REQUIRE(pthread_create(&thread, NULL, poll, NULL) == 0);
  usleep(100);
  stop = 1;
  pthread_join(thread, NULL);
  printf("polls %ld\n", polls);
  OK(aclrtResetDevice(0));
  return end_right();
}
