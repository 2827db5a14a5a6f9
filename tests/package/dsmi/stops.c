/* SPDX-License-Identifier: Apache-2.0 */
/* With a computing token of 0 nothing runs, until somebody sets another one; a second program sees
   what the first has set. */
#define _POSIX_C_SOURCE 200809L
#include <acl/npusim_kernels.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

static void set(float value) {
  const struct dsmi_computing_token_stru token = {value, COMPUTING_TOKEN_LAD0TKEN02, 0, 0};
  OK(dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, sizeof token));
}

static void* launch(void* done) {
  const npusim_spin_args args = {20000};
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  OK(aclrtSetDevice(0));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  for (int i = 0; i < 100; ++i) OK(aclrtLaunchKernel(spin, 48, &args, sizeof args, NULL));
  OK(aclrtSynchronizeStream(NULL));
  *(int*)done = 1;
  return NULL;
}

int main(void) {
  const struct timespec a_while = {0, 20 * 1000 * 1000};
  struct dsmi_computing_token_stru token;
  unsigned size = sizeof token, share = 100;
  volatile int done = 0;
  pthread_t other;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  set(0);
  nanosleep(&a_while, NULL);
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_AICORE, &share));
  REQUIRE(pthread_create(&other, NULL, launch, (void*)&done) == 0);
  nanosleep(&a_while, NULL);
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_AICORE, &share));
  REQUIRE(share == 0 && done == 0);
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, &size));
  REQUIRE(token.value == 0 && token.type == COMPUTING_TOKEN_LAD0TKEN02);
  set(65535);
  REQUIRE(pthread_join(other, NULL) == 0 && done == 1);
  return end_right();
}
