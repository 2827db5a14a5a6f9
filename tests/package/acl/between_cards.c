/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between two cards of a program: of every kind, by streams of either card. */
#include <string.h>

#include "spin.h"

#define SIZE ((size_t)4 << 20)

static unsigned char *bytes, *seen;
static char* memory[2];
static aclrtStream streams[2];

static void make(unsigned seed) {
  for (size_t i = 0; i < SIZE; ++i) bytes[i] = (unsigned char)(i * 5 + i / 997 + seed);
}

/* `count` bytes of `from` at `offset` are at `to`, and nothing beside them has changed. */
static void expect(const char* to, size_t offset, size_t count) {
  OK(aclrtMemcpy(seen, SIZE, to, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(seen, bytes + offset, count) == 0);
  for (size_t i = count; i < SIZE; ++i) REQUIRE(seen[i] == 0xAA);
}

/* `by` -1: in no stream. */
static void copy(int source, aclrtMemcpyKind kind, int by, size_t offset, size_t count) {
  char* const from = memory[source];
  char* const to = memory[1 - source];
  static unsigned seed;
  make(++seed);
  OK(aclrtMemcpy(from, SIZE, bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemset(to, SIZE, 0xAA, SIZE));
  if (by < 0) {
    OK(aclrtMemcpy(to, SIZE, from + offset, count, kind));
  } else {
    OK(aclrtSetDevice(by));
    OK(aclrtMemcpyAsync(to, SIZE, from + offset, count, kind, streams[by]));
    OK(aclrtSynchronizeStream(streams[by]));
  }
  expect(to, offset, count);
}

static void every_kind(int current, int by) {
  const aclrtMemcpyKind kinds[] = {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT,
                                   ACL_MEMCPY_INTER_DEVICE_TO_DEVICE};
  OK(aclrtSetDevice(current));
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    for (int source = 0; source < 2; ++source) {
      copy(source, kinds[kind], by, 0, SIZE);
      copy(source, kinds[kind], by, 77, 12345);
    }
  }
}

/* A block that comes where another one was that had been copied to; one that is freed under a
   copy of the other card's. */
static void freed(aclrtFuncHandle kernel) {
  char* block = NULL;
  for (int round = 0; round < 3; ++round) {
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc((void**)&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(block, SIZE, 0xAA, SIZE));
    OK(aclrtMemcpy(block, SIZE, memory[0], 99, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(bytes, SIZE, memory[0], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    expect(block, 0, 99);
    OK(aclrtFree(block));
  }
  OK(aclrtMalloc((void**)&block, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtSetDevice(0));
  spin(kernel, streams[0], 200);
  OK(aclrtMemcpyAsync(block, SIZE, memory[0], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[0]));
  OK(aclrtFree(block));
  OK(aclrtSetDevice(1));
  char* next = device_memory(SIZE);
  OK(aclrtMemset(next, SIZE, 0xAA, SIZE));
  OK(aclrtSetDevice(0));
  OK(aclrtSynchronizeStream(streams[0]));
  expect(next, 0, 0);
  OK(aclrtFree(next));
}

/* Blocks of one page of the other card's, each under a copy: one that goes leaves the others. */
static void small(aclrtFuncHandle kernel) {
  char* blocks[8];
  OK(aclrtSetDevice(1));
  for (int i = 0; i < 8; ++i) {
    OK(aclrtMalloc((void**)&blocks[i], 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(blocks[i], 4096, 0xAA, 4096));
  }
  REQUIRE(blocks[7] - blocks[0] < 8 * 8192);
  OK(aclrtSetDevice(0));
  for (int i = 0; i < 8; ++i) {
    spin(kernel, streams[0], 50);
    OK(aclrtMemcpyAsync(blocks[i], 4096, memory[0], 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[0]));
    if (i % 2 == 0) OK(aclrtFree(blocks[i]));
  }
  OK(aclrtSynchronizeStream(streams[0]));
  OK(aclrtMemcpy(bytes, SIZE, memory[0], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 1; i < 8; i += 2) {
    OK(aclrtMemcpy(seen, SIZE, blocks[i], 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(memcmp(seen, bytes, 4096) == 0);
    OK(aclrtFree(blocks[i]));
  }
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpy(blocks[1], 1, memory[0], 1, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

/* Rows; and a stream keeps its order between copies of both kinds. */
static void ordered(aclrtFuncHandle kernel) {
  OK(aclrtSetDevice(0));
  OK(aclrtMemset(memory[1], SIZE, 0xAA, SIZE));
  spin(kernel, streams[0], 200);
  OK(aclrtMemsetAsync(memory[0], SIZE, 3, SIZE, streams[0]));
  OK(aclrtMemcpy2dAsync(memory[1], 64, memory[0], 128, 32, 4, ACL_MEMCPY_DEVICE_TO_DEVICE,
                        streams[0]));
  OK(aclrtMemsetAsync(memory[0], SIZE, 4, SIZE, streams[0]));
  OK(aclrtMemcpyAsync(memory[1] + 4096, 1, memory[0], 1, ACL_MEMCPY_DEFAULT, streams[0]));
  OK(aclrtSynchronizeStream(streams[0]));
  OK(aclrtMemcpy(seen, SIZE, memory[1], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < 256; ++i) REQUIRE(seen[i] == (i % 64 < 32 ? 3 : 0xAA));
  REQUIRE(seen[4096] == 4 && seen[4097] == 0xAA);
}

int main(void) {
  aclrtFuncHandle kernel = NULL;
  bytes = malloc(SIZE);
  seen = malloc(SIZE);
  OK(aclInit(NULL));
  for (int device = 0; device < 2; ++device) {
    OK(aclrtSetDevice(device));
    OK(aclrtMalloc((void**)&memory[device], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateStream(&streams[device]));
  }
  kernel = built_in("spin");
  for (int current = 0; current < 2; ++current) {
    every_kind(current, -1);
    every_kind(current, current);
  }
  freed(kernel);
  small(kernel);
  ordered(kernel);
  return end_right();
}
