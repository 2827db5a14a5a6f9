/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to the card and back. */
#include <string.h>

#include "check.h"

int main(void) {
  char there[100] = "hello", back[100] = "";
  void* device = NULL;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  OK(aclrtMalloc(&device, sizeof there, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(device, sizeof there, there, sizeof there, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(back, sizeof back, device, sizeof there, ACL_MEMCPY_DEVICE_TO_HOST));
  OK(aclrtFree(device));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  REQUIRE(strcmp(back, "hello") == 0);
  puts("right");
  return 0;
}
