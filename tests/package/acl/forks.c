/* SPDX-License-Identifier: Apache-2.0 */
/* Children of fork() and _Fork(), which have nothing of their parent's, and a grandchild that
 * outlives both. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define SIZE 4096

static unsigned char* inherited;
static void* of_parent;

/* The parent's buffer is ordinary memory to a child, with the bytes that are in it. */
static void be_child(void) {
  unsigned char bytes[SIZE];
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtFree(of_parent));
  open_device();
  void* memory = device_memory(SIZE);
  unsigned char* pinned = pinned_memory(SIZE);
  memset(pinned, 0x22, SIZE);
  OK(aclrtMemcpy(memory, SIZE, inherited, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(bytes, SIZE, memory, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(bytes[0] == 0x11 && memcmp(bytes, inherited, SIZE) == 0);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(inherited));
  OK(aclrtMemcpy(memory, SIZE, pinned, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtFreeHost(pinned));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  puts("right");
  fflush(stdout);
}

static void end_of(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

/* Its parent has ended before it first calls, and perhaps all that npusim knew. */
static void daemonise(void) {
  const pid_t child = fork();
  if (child != 0) {
    end_of(child);
    return;
  }
  setsid();
  if (fork() == 0) {
    const struct timespec late = {0, 200000000};
    nanosleep(&late, NULL);
    be_child();
  }
  _exit(0);
}

int main(void) {
  unsigned char bytes[SIZE];
  open_device();
  OK(aclrtMallocHost((void**)&inherited, SIZE));
  OK(aclrtMalloc(&of_parent, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  memset(inherited, 0x11, SIZE);
  pid_t child = fork();
  if (child == 0) {
    be_child();
    _exit(0);
  }
  end_of(child);
  child = _Fork();
  if (child == 0) {
    be_child();
    _exit(0);
  }
  end_of(child);
  daemonise();
  OK(aclrtMemcpy(of_parent, SIZE, inherited, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(bytes, SIZE, of_parent, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(bytes, inherited, SIZE) == 0);
  OK(aclrtFreeHost(inherited));
  return end_right();
}
