/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sees of aclrtMallocHost() memory after each way of waiting for the copy into it. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "spin.h"

enum { kBytes = 65536 };

static unsigned char* host;
static void* device;
static aclrtFuncHandle kernel;

static int holds(int value) {
  for (size_t i = 0; i < kBytes; ++i) {
    if (host[i] != value) return 0;
  }
  return 1;
}

/* A copy of these bytes that a kernel holds up for 100 us. */
static void begin(aclrtStream stream, int value) {
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemset(device, kBytes, value, kBytes));
  memset(host, 0xEE, kBytes);
  spin(kernel, stream, 100);
  OK(aclrtMemcpyAsync(host, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  REQUIRE(holds(0xEE));
}

static void streams(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  begin(stream, 1);
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(holds(1));
  begin(stream, 2);
  OK(aclrtSynchronizeStreamWithTimeout(stream, 1000));
  REQUIRE(holds(2));
  begin(stream, 3);
  OK(aclrtSynchronizeDevice());
  REQUIRE(holds(3));
  begin(stream, 4);
  while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(stream, &status));
  REQUIRE(holds(4));
}

static void events(aclrtStream stream, aclrtStream other) {
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtEvent event = new_event();
  begin(stream, 5);
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeEvent(event));
  REQUIRE(holds(5));
  begin(stream, 6);
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeEventWithTimeout(event, 1000));
  REQUIRE(holds(6));
  begin(stream, 7);
  OK(aclrtRecordEvent(event, stream));
  while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
    OK(aclrtQueryEventStatus(event, &recorded));
  }
  REQUIRE(holds(7));
  begin(stream, 8);
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtStreamWaitEvent(other, event));
  OK(aclrtSynchronizeStream(other));
  REQUIRE(holds(8));
}

/* Looks at the bytes alone. */
static void polls(aclrtStream stream) {
  const struct timespec moment = {0, 10000};
  int looks = 0;
  begin(stream, 9);
  while (((volatile unsigned char*)host)[kBytes - 1] != 9) {
    REQUIRE(++looks < 100);
    nanosleep(&moment, NULL);
  }
  REQUIRE(looks > 5 && holds(9));
}

int main(void) {
  open_device();
  kernel = built_in("spin");
  OK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocHost((void**)&host, kBytes));
  aclrtStream stream = new_stream();
  aclrtStream other = new_stream();
  streams(stream);
  streams(NULL);
  events(stream, other);
  polls(stream);
  begin(stream, 10);
  OK(aclrtDestroyStream(stream));
  REQUIRE(holds(10));
  begin(other, 11);
  OK(aclFinalize());
  REQUIRE(holds(11));
  puts("right");
  return 0;
}
