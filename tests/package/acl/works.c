/* SPDX-License-Identifier: Apache-2.0 */
/* works [MS]: works for so long, of this machine's time, between two calls. */
#define _POSIX_C_SOURCE 199309L
#include <acl/acl.h>
#include <time.h>

#include "check.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const double seconds = (argc > 1 ? atof(argv[1]) : 3) * 1e-3;
  double begin;
  open_device();
  begin = now();
  while (now() - begin < seconds) {
  }
  OK(aclrtResetDevice(0));
  return end_right();
}
