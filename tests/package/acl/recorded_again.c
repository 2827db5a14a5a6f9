/* SPDX-License-Identifier: Apache-2.0 */
/* Each record of an event is one of its own, and outlives the event; a stream that is destroyed by
   force lets those go on that wait for it. */
#include <string.h>

#include "spin.h"

enum { kBytes = 4096 };

static aclrtStream first, second, third;
static aclrtFuncHandle kernel;
static void *from, *to;

static int copied(void) {
  unsigned char byte = 0;
  OK(aclrtMemcpy(&byte, 1, (char*)to + kBytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}

/* `from` gets another value after so many microseconds. */
static void change(aclrtStream stream, unsigned microseconds, int value) {
  spin(kernel, stream, microseconds);
  OK(aclrtMemsetAsync(from, kBytes, value, kBytes, stream));
}

static void copy(aclrtStream stream) {
  OK(aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

/* Who waits for the first record waits for that; the second one ends before it. */
static void again(void) {
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtEvent event = new_event();
  change(first, 1000, 1);
  OK(aclrtRecordEvent(event, first));
  OK(aclrtStreamWaitEvent(third, event));
  OK(aclrtRecordEvent(event, second));
  copy(third);
  OK(aclrtSynchronizeEventWithTimeout(event, 1000));
  OK(aclrtQueryEventStatus(event, &recorded));
  REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(third, 0));
  OK(aclrtSynchronizeStream(third));
  REQUIRE(copied() == 1);
  OK(aclrtStreamWaitEvent(first, event));
  OK(aclrtSynchronizeStreamWithTimeout(first, 1000));
  OK(aclrtDestroyEvent(event));
}

/* The next event has nothing of one that was destroyed. */
static void destroyed(void) {
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  aclrtEvent gone = new_event();
  change(first, 100, 2);
  OK(aclrtRecordEvent(gone, first));
  OK(aclrtStreamWaitEvent(second, gone));
  OK(aclrtDestroyEvent(gone));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(gone));
  aclrtEvent next = new_event();
  change(second, 1000, 3);
  OK(aclrtRecordEvent(next, second));
  OK(aclrtStreamWaitEvent(third, next));
  copy(third);
  OK(aclrtSynchronizeStream(first));
  OK(aclrtQueryEventStatus(next, &recorded));
  REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  OK(aclrtSynchronizeStream(third));
  REQUIRE(copied() == 3);
  OK(aclrtDestroyEvent(next));
}

/* A record that never was: nobody waits for it, it has no time. */
static void given_up(void) {
  float milliseconds = 0;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtStream stream = new_stream();
  aclrtEvent begin = new_event();
  aclrtEvent end = new_event();
  OK(aclrtRecordEvent(begin, stream));
  OK(aclrtSynchronizeStream(stream));
  spin(kernel, stream, 100000);
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtStreamWaitEvent(second, end));
  OK(aclrtMemset(from, kBytes, 4, kBytes));
  copy(second);
  OK(aclrtDestroyStreamForce(stream));
  OK(aclrtSynchronizeStreamWithTimeout(second, 1));
  REQUIRE(copied() == 4);
  OK(aclrtQueryEventStatus(end, &recorded));
  REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  OK(aclrtSynchronizeEventWithTimeout(end, 1));
  OK(aclrtSynchronizeEvent(begin));
  OK(aclrtEventElapsedTime(&milliseconds, begin, begin));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtRecordEvent(end, second));
  OK(aclrtSynchronizeEvent(end));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  REQUIRE(milliseconds > 0);
}

int main(void) {
  open_device();
  OK(aclrtMalloc(&from, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&to, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtCreateStream(&first));
  OK(aclrtCreateStream(&second));
  OK(aclrtCreateStream(&third));
  kernel = built_in("spin");
  for (int i = 0; i < 40; ++i) {
    again();
    destroyed();
    given_up();
  }
  return end_right();
}
