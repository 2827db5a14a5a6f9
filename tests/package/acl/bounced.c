/* SPDX-License-Identifier: Apache-2.0 */
/* The card reads and writes the program's own host memory: buffers that copies go through, bytes
   that come too late or are looked at too early, memory that is freed under a copy. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "spin.h"

#define SIZE ((size_t)16 << 20)

static unsigned char *host, *bytes;
static char *from, *to;
static aclrtStream stream, other;
static aclrtFuncHandle kernel;

static void begin(int value) {
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemset(from, SIZE, value, SIZE));
  OK(aclrtMemset(to, SIZE, 0, SIZE));
  memset(host, 0xEE, SIZE);
  spin(kernel, stream, 100);
}

/* All of the card's `to`. */
static void expect(int value) {
  OK(aclrtSynchronizeDevice());
  OK(aclrtMemcpy(bytes, SIZE, to, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(bytes[i] == value);
}

static void through(aclrtStream back, aclrtMemcpyKind out, aclrtMemcpyKind in, int value) {
  begin(value);
  OK(aclrtMemcpyAsync(host, SIZE, from, SIZE, out, stream));
  aclrtEvent event = new_event();
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtStreamWaitEvent(back, event));
  OK(aclrtDestroyEvent(event));
  OK(aclrtMemcpyAsync(to, SIZE, host, SIZE, in, back));
  expect(value);
}

static void overwritten(aclrtMemcpyKind kind, int value) {
  begin(1);
  memset(host, 4, SIZE);
  OK(aclrtMemcpyAsync(to, SIZE, host, SIZE, kind, stream));
  memset(host, 5, SIZE);
  expect(value);
}

/* The host looks while the bytes come: more of them each time. */
static void looked_at(void) {
  const struct timespec moment = {0, 100000};
  size_t before = 0, now = 0, parts = 0;
  begin(6);
  OK(aclrtMemcpyAsync(host, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  for (; now < SIZE; before = now) {
    nanosleep(&moment, NULL);
    now = 0;
    for (size_t i = 0; i < SIZE; ++i) now += ((volatile unsigned char*)host)[i] == 6;
    REQUIRE(now >= before);
    if (now > before) ++parts;
    printf("%zu bytes\n", now);
  }
  REQUIRE(parts > 2);
}

static void freed(void) {
  unsigned char* source = pinned_memory(SIZE);
  unsigned char* target = pinned_memory(SIZE);
  begin(7);
  memset(source, 8, SIZE);
  OK(aclrtMemcpyAsync(to, SIZE, source, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtMemcpyAsync(target, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtFreeHost(source));
  OK(aclrtFreeHost(target));
  unsigned char* next = pinned_memory(SIZE);
  memset(next, 9, SIZE);
  expect(8);
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(next[i] == 9);
  OK(aclrtFreeHost(next));
}

int main(void) {
  open_device();
  kernel = built_in("spin");
  bytes = malloc(SIZE);
  OK(aclrtMalloc((void**)&from, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc((void**)&to, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocHost((void**)&host, SIZE));
  OK(aclrtCreateStream(&stream));
  OK(aclrtCreateStream(&other));
  through(stream, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, 1);
  through(other, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, 2);
  through(other, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_DEFAULT, 3);
  overwritten(ACL_MEMCPY_HOST_TO_DEVICE, 5);
  overwritten(ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, 4);
  looked_at();
  freed();
  return end_right();
}
