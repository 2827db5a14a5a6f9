/* SPDX-License-Identifier: Apache-2.0
 * Children begin with many threads at once, and are killed while these are let in: by themselves or
 * by their parent, after each number of calls. */
#define _POSIX_C_SOURCE 200809L
#include <acl/acl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 24, kMostCalls = 16 };

static pthread_barrier_t begin;

static void* call_and_sleep(void* unused) {
  int device;
  pthread_barrier_wait(&begin);
  aclrtGetDevice(&device);
  for (;;) sleep(1);
  return unused;
}

static void call(int calls) {
  int device;
  for (int i = 0; i < calls; ++i) aclrtGetDevice(&device);
}

static void child(int ready, int calls) {
  pthread_t thread;
  pthread_barrier_init(&begin, NULL, kThreads + 1);
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&thread, NULL, call_and_sleep, NULL) != 0) exit(2);
  }
  if (write(ready, "", 1) != 1) exit(2);
  if (calls == 0) call_and_sleep(NULL);
  pthread_barrier_wait(&begin);
  call(calls);
  kill(getpid(), SIGKILL);
}

static int lose_child(int calls_of_child, int calls_of_parent) {
  int ready[2], status = 0;
  char byte;
  if (pipe(ready) != 0) return 0;
  const pid_t id = fork();
  if (id == 0) child(ready[1], calls_of_child);
  if (read(ready[0], &byte, 1) != 1) return 0;
  call(calls_of_parent);
  if (calls_of_child == 0 && kill(id, SIGKILL) != 0) return 0;
  if (waitpid(id, &status, 0) != id) return 0;
  close(ready[0]);
  close(ready[1]);
  return WIFSIGNALED(status);
}

int main(void) {
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  for (int calls = 1; calls < kMostCalls; ++calls) {
    if (!lose_child(calls, 1) || !lose_child(0, calls)) return 1;
  }
  if (aclFinalize() != ACL_SUCCESS) return 1;
  puts("right");
  return 0;
}
