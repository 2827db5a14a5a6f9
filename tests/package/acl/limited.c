/* SPDX-License-Identifier: Apache-2.0
 * limited FILE NAME: a kernel of many blocks that do next to nothing takes longer on fewer cores.
 * Its launches have the limits of the moment at which they were made. */
#include "check.h"

enum { kBlocks = 960 };

static aclrtStream stream;
static aclrtFuncHandle function;

static void launch(aclrtEvent end) {
  OK(aclrtLaunchKernel(function, kBlocks, NULL, 0, stream));
  OK(aclrtRecordEvent(end, stream));
}

/* Of three launches: without a limit, with one core, with two; all are queued before one runs. */
static void times(float* milliseconds) {
  aclrtEvent events[4];
  for (int i = 0; i < 4; ++i) OK(aclrtCreateEvent(&events[i]));
  OK(aclrtRecordEvent(events[0], stream));
  launch(events[1]);
  OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 1));
  launch(events[2]);
  OK(aclrtResetStreamResLimit(stream));
  OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 2));
  launch(events[3]);
  OK(aclrtResetDeviceResLimit(0));
  OK(aclrtSynchronizeStream(stream));
  for (int i = 0; i < 3; ++i) {
    OK(aclrtEventElapsedTime(&milliseconds[i], events[i], events[i + 1]));
  }
  for (int i = 0; i < 4; ++i) OK(aclrtDestroyEvent(events[i]));
}

int main(int count, char** words) {
  float milliseconds[3];
  aclrtBinHandle binary = NULL;
  REQUIRE(count == 3);
  open_device();
  OK(aclrtCreateStream(&stream));
  OK(aclrtBinaryLoadFromFile(words[1], NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, words[2], &function));
  times(milliseconds);
  times(milliseconds); /* its code is in the cores' caches from here on */
  fprintf(stderr, "%f %f %f ms\n", milliseconds[0], milliseconds[1], milliseconds[2]);
  REQUIRE(milliseconds[1] > 10 * milliseconds[0]);
  REQUIRE(milliseconds[1] > 1.8f * milliseconds[2] && milliseconds[1] < 2.2f * milliseconds[2]);
  OK(aclrtDestroyStream(stream));
  return end_right();
}
