/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory where calls, pointers and cards meet: as the host's side of copies, wherever its
   page is; at its end; and a child that is made while a kernel works on it.
   managed_edges MICROSECONDS (that the kernel has worked then) */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define SIZE 5000
#define COUNT ((size_t)30 << 20)

enum { UNTOUCHED, ON_HOST, ON_CARD };
static char text[SIZE];

static char* made(int where) {
  char* memory = managed_memory(SIZE);
  if (where == ON_HOST) memset(memory, 'h', SIZE);
  if (where == ON_CARD) OK(aclrtMemset(memory, SIZE, 'c', SIZE));
  return memory;
}

/* The copy says that the managed memory is the host's. */
static void copies(int where) {
  char *device = NULL, *memory = made(where), *other = made(where);
  OK(aclrtMalloc((void**)&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(device, SIZE, text, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(memory, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(memory, text, SIZE) == 0);
  OK(aclrtMemcpy(other, SIZE, memory, SIZE, ACL_MEMCPY_HOST_TO_HOST));
  REQUIRE(memcmp(other, text, SIZE) == 0);
  if (where == ON_CARD) OK(aclrtMemset(other, SIZE, 'd', SIZE));
  OK(aclrtMemcpy(device, SIZE, other, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(memory, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(memcmp(memory, other, SIZE) == 0);
  OK(aclrtFree(device));
  OK(aclrtFree(memory));
  OK(aclrtFree(other));
}

static void ends(void) {
  char *memory = made(ON_HOST), *device = NULL;
  OK(aclrtMalloc((void**)&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(memory, SIZE, 1, SIZE));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, 2 * SIZE, 1, SIZE + 1));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory + SIZE - 10, 20, 1, 11));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpy(device, SIZE, memory + SIZE - 10, 11, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpy(memory + SIZE - 10, SIZE, device, 11, ACL_MEMCPY_DEVICE_TO_DEVICE));
  OK(aclrtFree(memory));
  OK(aclrtFree(device));
}

static void fork_meanwhile(useconds_t worked) {
  size_t bad = 0;
  int status = 0;
  pid_t child;
  float* memory = managed_memory(COUNT * sizeof *memory);
  aclrtFuncHandle add = built_in("add");
  for (size_t i = 0; i < COUNT; ++i) memory[i] = (float)(1 + i % 1024);
  const npusim_elementwise_args twice = {(uint64_t)memory, (uint64_t)memory, (uint64_t)memory,
                                         COUNT, ACL_FLOAT};
  OK(aclrtLaunchKernel(add, 48, &twice, sizeof twice, NULL));
  usleep(worked);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (size_t i = 0; i < COUNT; ++i) {
      const float value = (float)(1 + i % 1024);
      bad += memory[i] != value && memory[i] != 2 * value;
    }
    _exit(bad == 0 ? 0 : 1);
  }
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  OK(aclrtSynchronizeStream(NULL));
  for (size_t i = 0; i < COUNT; ++i) bad += memory[i] != (float)(2 * (1 + i % 1024));
  REQUIRE(bad == 0);
  OK(aclrtFree(memory));
}

int main(int argc, char** argv) {
  open_device();
  memset(text, 't', SIZE);
  for (int where = UNTOUCHED; where <= ON_CARD; ++where) copies(where);
  ends();
  fork_meanwhile((useconds_t)atoi(argv[argc - 1]));
  return end_right();
}
