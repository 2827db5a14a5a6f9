/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed while work in flight uses it is that work's until it has ended, and then
   somebody else's. */
#include <string.h>

#include "spin.h"

#define SIZE ((size_t)4 << 20)

static aclrtStream stream;
static aclrtFuncHandle kernel, copy;
static unsigned char* bytes;

static void* allocate(void) {
  void* memory = NULL;
  OK(aclrtMallocAlign32(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

static void expect(const void* memory, int value) {
  OK(aclrtMemcpy(bytes, SIZE, memory, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(bytes[i] == value);
}

/* By a kernel, a fill or a copy, 200 us from now. */
static void write_later(void* to, void* from, int how) {
  npusim_elementwise_args args = {(uint64_t)to, (uint64_t)from, 0, SIZE / 4, ACL_FLOAT};
  spin(kernel, stream, 200);
  if (how == 0) OK(aclrtLaunchKernel(copy, 1, &args, sizeof args, stream));
  if (how == 1) OK(aclrtMemsetAsync(to, SIZE, 9, SIZE, stream));
  if (how == 2) {
    OK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  }
}

static void under_work(void* from, int how) {
  void *old = allocate(), *next = NULL, *after = NULL;
  OK(aclrtMemset(old, SIZE, 1, SIZE));
  write_later(old, from, how);
  OK(aclrtFree(old));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(old));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(bytes, 1, old, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  next = allocate();
  REQUIRE(next != old);
  OK(aclrtMemset(next, SIZE, 7, SIZE));
  OK(aclrtSynchronizeStream(stream));
  expect(next, 7);
  after = allocate();
  REQUIRE(after == old);
  OK(aclrtFree(next));
  OK(aclrtFree(after));
}

/* What the work reads is there until it has read it. */
static void read_by_work(void* to) {
  void *from = allocate(), *next = NULL;
  OK(aclrtMemset(from, SIZE, 5, SIZE));
  write_later(to, from, 0);
  OK(aclrtFree(from));
  next = allocate();
  OK(aclrtMemset(next, SIZE, 6, SIZE));
  OK(aclrtSynchronizeStream(stream));
  expect(to, 5);
  OK(aclrtFree(next));
}

/* Far more than the card has: an allocation waits for what is on its way back. */
static void more_than_there_is(void) {
  const size_t half = free_memory() / 3 * 2;
  for (int i = 0; i < 8; ++i) {
    void* memory = NULL;
    OK(aclrtMalloc(&memory, half, ACL_MEM_MALLOC_HUGE_FIRST));
    spin(kernel, stream, 50);
    OK(aclrtMemsetAsync((char*)memory + half - 64, 64, i, 64, stream));
    OK(aclrtFree(memory));
  }
  OK(aclrtSynchronizeStream(stream));
}

static void managed(void) {
  for (int i = 0; i < 3; ++i) {
    void *old = NULL, *next = NULL;
    OK(aclrtMemAllocManaged(&old, SIZE, 1));
    OK(aclrtMemset(old, SIZE, 1, SIZE));
    write_later(old, NULL, 1);
    OK(aclrtFree(old));
    OK(aclrtMemAllocManaged(&next, SIZE, 1));
    OK(aclrtMemset(next, SIZE, 7, SIZE));
    OK(aclrtSynchronizeStream(stream));
    expect(next, 7);
    OK(aclrtFree(next));
  }
}

int main(void) {
  void* other = NULL;
  size_t before = 0;
  open_device();
  bytes = malloc(SIZE);
  OK(aclrtCreateStream(&stream));
  kernel = built_in("spin");
  copy = built_in("copy");
  other = allocate();
  OK(aclrtMemset(other, SIZE, 2, SIZE));
  write_later(other, other, 0); /* the kernels are on the card, whatever comes */
  OK(aclrtSynchronizeStream(stream));
  before = free_memory();
  for (int how = 0; how < 3; ++how) under_work(other, how);
  read_by_work(other);
  more_than_there_is();
  REQUIRE(free_memory() == before);
  managed();
  OK(aclFinalize());
  free(bytes);
  puts("right");
  return 0;
}
