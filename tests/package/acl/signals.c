/* SPDX-License-Identifier: Apache-2.0 */
/* signals MICROSECONDS: a timer's signal comes as often as that, to handlers that restart nothing,
 * while threads call for the first time and work. Some handlers call as well. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "check.h"

#define THREADS 24
#define SIZE 70000

static volatile long came, nested, refused;

static void note(int number) {
  int32_t device = -1;
  (void)number;
  ++came;
  /* In the midst of a call of the same thread: it is refused, and takes nothing from that one. */
  const aclError got = aclrtGetDevice(&device);
  if (got == ACL_ERROR_INTERNAL_ERROR) ++nested;
  if (got != ACL_SUCCESS && got != ACL_ERROR_INTERNAL_ERROR && got != ACL_ERROR_RT_CONTEXT_NULL) {
    ++refused;
  }
}

static void quiet(int number) {
  (void)number;
  ++came;
}

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}

static void hold(int number, int how) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(how, &one, NULL);
}

static void* work(void* seed) {
  static __thread char there[SIZE], back[SIZE];
  void *memory, *pinned;
  OK(aclrtSetDevice(0));
  aclrtStream stream = new_stream();
  for (int i = 0; i < 3; ++i) {
    memset(there, *(char*)seed + i, SIZE);
    OK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, SIZE));
    OK(aclrtMemcpy(memory, SIZE, there, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back, SIZE, memory, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(memcmp(there, back, SIZE) == 0);
    OK(aclrtMemsetAsync(memory, SIZE, i, SIZE, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(memory));
  }
  OK(aclrtDestroyStream(stream));
  return NULL;
}

int main(int argc, char** argv) {
  const long period = argc > 1 ? atol(argv[1]) : 300;
  const struct itimerval every = {{0, period}, {0, period}}, never = {{0, 0}, {0, 0}};
  static char stack[65536];
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, NULL);
  handle(SIGALRM, quiet, 0);
  handle(SIGPROF, quiet, SA_ONSTACK);
  setitimer(ITIMER_REAL, &every, NULL);
  setitimer(ITIMER_PROF, &every, NULL);
  open_device();
  for (int i = 0; i < THREADS; ++i) { /* the one that works gets the signals */
    pthread_t thread;
    char seed = (char)i;
    REQUIRE(pthread_create(&thread, NULL, work, &seed) == 0);
    hold(SIGALRM, SIG_BLOCK);
    pthread_join(thread, NULL);
    hold(SIGALRM, SIG_UNBLOCK);
  }
  handle(SIGALRM, note, SA_ONSTACK);
  for (int i = 0; i < 10; ++i) {
    aclrtStream stream;
    OK(aclrtCreateStream(&stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
  }
  setitimer(ITIMER_REAL, &never, NULL);
  setitimer(ITIMER_PROF, &never, NULL);
  REQUIRE(refused == 0);
  OK(aclrtResetDevice(0));
  return end_right();
}
