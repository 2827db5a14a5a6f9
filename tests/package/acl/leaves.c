/* SPDX-License-Identifier: Apache-2.0 */
/* leaves CALL: ends while another thread is in a call that lasts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char* call;
static aclrtStream stream;

static int is(const char* name) {
  return strcmp(call, name) == 0;
}

static void nothing(void* parameter) {
  (void)parameter;
}

static void* stay(void* parameter) {
  OK(aclrtSetDevice(0));
  OK(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
  if (is("sleep")) sleep(4000000000U);
  if (is("report")) aclrtProcessReport(-1);
  if (is("days")) aclrtProcessReport(1000000000);
  if (is("callback")) OK(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_BLOCK, stream));
  if (is("callback")) aclrtSynchronizeStream(stream);
  return parameter;
}

int main(int argc, char** argv) {
  pthread_t thread;
  call = argc > 1 ? argv[1] : "sleep";
  open_device();
  OK(aclrtCreateStream(&stream));
  REQUIRE(pthread_create(&thread, NULL, stay, NULL) == 0);
  usleep(1000);
  puts("right");
  fflush(stdout);
  _exit(0);
}
