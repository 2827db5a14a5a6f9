/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a function that nobody will run: no thread takes the stream's reports. */
#include "check.h"

static void never(void* nothing) {
  (void)nothing;
}

int main(void) {
  void* managed = NULL;
  open_device();
  OK(aclrtMemAllocManaged(&managed, 4096, 1)); /* who serves its faults is no reason to go on */
  aclrtStream stream = new_stream();
  OK(aclrtSubscribeReport(1, stream));
  OK(aclrtLaunchCallback(never, NULL, ACL_CALLBACK_BLOCK, stream));
  OK(aclrtSynchronizeStream(stream));
  return 0;
}
