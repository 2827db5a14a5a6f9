/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that take longer than they may: the stream goes on, and its next wait says so, once. */
#include "check.h"

static float milliseconds(aclrtEvent from, aclrtEvent to) {
  float time = 0;
  OK(aclrtEventElapsedTime(&time, from, to));
  return time;
}

/* The wait of `wait` has ended between 1 and 1.1 s behind the first event. */
static void expect_late(aclrtStream stream, aclrtEvent begin, aclrtEvent end) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  OK(aclrtRecordEvent(end, stream));
  EXPECT(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtStreamQuery(stream, &status));
  REQUIRE(status == ACL_STREAM_STATUS_COMPLETE);
  const float time = milliseconds(begin, end);
  REQUIRE(time >= 1000 && time < 1100);
}

int main(void) {
  open_device();
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtEvent begin = new_event(), end = new_event(), event = new_event();
  aclrtNotify notify = NULL, gate = NULL;
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
  uint32_t before = 0, after = 0;
  OK(aclrtCreateNotify(&notify, 0));
  OK(aclrtCreateNotify(&gate, 0));
  for (int stops = 0; stops < 2; ++stops) {
    OK(aclrtSetStreamFailureMode(stream, stops));
    OK(aclrtRecordEvent(begin, stream));
    OK(aclrtWaitAndResetNotify(notify, stream, 1));
    expect_late(stream, begin, end);
  }
  OK(aclrtSetStreamFailureMode(stream, 0));
  /* In time. */
  OK(aclrtRecordNotify(notify, other));
  OK(aclrtWaitAndResetNotify(notify, stream, 1));
  OK(aclrtSynchronizeStream(stream));
  /* Events: nobody opens the gate in front of the record. */
  OK(aclrtWaitAndResetNotify(gate, other, 0));
  OK(aclrtRecordEvent(event, other));
  OK(aclrtQueryEventWaitStatus(event, &waits));
  REQUIRE(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
  OK(aclrtRecordEvent(begin, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtStreamWaitEventWithTimeout(stream, event, 0));
  OK(aclrtStreamWaitEventWithTimeout(stream, event, 1000));
  OK(aclrtQueryEventWaitStatus(event, &waits));
  REQUIRE(waits == ACL_EVENT_WAIT_STATUS_NOT_READY);
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(1));
  expect_late(stream, begin, end);
  OK(aclrtQueryEventWaitStatus(event, &waits));
  REQUIRE(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
  OK(aclrtSetOpWaitTimeout(1));
  OK(aclrtRecordEvent(begin, stream));
  OK(aclrtStreamWaitEvent(stream, event));
  expect_late(stream, begin, end);
  OK(aclrtSetOpWaitTimeout(0));
  OK(aclrtStreamWaitEvent(stream, event));
  OK(aclrtRecordNotify(gate, new_stream()));
  OK(aclrtSynchronizeDeviceWithTimeout(-1));
  OK(aclrtGetStreamAvailableNum(&before));
  new_stream();
  OK(aclrtGetStreamAvailableNum(&after));
  REQUIRE(after < before && after > 0);
  return end_right();
}
