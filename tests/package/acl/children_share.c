/* SPDX-License-Identifier: Apache-2.0 */
/* children_share [MIB]: what there is of the card for a program and its children together; what a
   child had, managed memory as well, is back when its parent knows that it has ended. */
#define _POSIX_C_SOURCE 200112L
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MIB ((size_t)1 << 20)

static size_t free_bytes(void) {
  size_t free_now = 0, total = 0;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total));
  return free_now;
}

/* Takes 256 MiB, and as much of managed memory. */
static void take(void) {
  device_memory(256 * MIB);
  void* managed = managed_memory(256 * MIB);
  for (size_t at = 0; at < 256 * MIB; at += 2 * MIB) {
    OK(aclrtMemset((char*)managed + at, 8, 1, 8));
  }
}

int main(int argc, char** argv) {
  const size_t quota = argc > 1 ? (size_t)atoi(argv[1]) * MIB : 0;
  const int again = argc > 2;
  open_device();
  const size_t all = free_bytes();
  REQUIRE(quota == 0 || all <= quota);
  take();
  REQUIRE(free_bytes() <= all - 256 * MIB);
  if (again) _exit(0); /* by execve() */
  for (int i = 0; i < 4; ++i) {
    /* The first fork() takes the managed memory off the card to the host. */
    const size_t after = free_bytes() + (i == 0 ? 256 * MIB : 0);
    const pid_t child = fork();
    int status = 1;
    if (child == 0 && i % 2 == 1) {
      char text[32];
      snprintf(text, sizeof text, "%d", (int)(quota / MIB));
      execl(argv[0], argv[0], text, "again", (char*)NULL);
      _exit(2);
    }
    if (child == 0) {
      open_device();
      REQUIRE(quota == 0 || free_bytes() <= after);
      take();
      _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(free_bytes() == after);
  }
  return end_right();
}
