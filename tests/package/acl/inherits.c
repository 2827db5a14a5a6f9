/* SPDX-License-Identifier: Apache-2.0 */
/* A child has its parent's managed memory as it was, as memory of its own; it may have managed
   memory itself, and children. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define PAGE ((size_t)2 << 20)
#define COUNT 1000

static void twice(float* at) {
  const uint64_t place = (uint64_t)at;
  const npusim_elementwise_args args = {place, place, place, COUNT, ACL_FLOAT};
  aclrtStream stream = new_stream();
  aclrtFuncHandle add = built_in("add");
  OK(aclrtLaunchKernel(add, 1, &args, sizeof args, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtDestroyStream(stream));
}

static int ended_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return status == 0;
}

/* Its parent's: `page` with ones, one that nobody has touched behind it. */
static void as_a_child(float* page, float* untouched, int generation) {
  for (int i = 0; i < COUNT; ++i) REQUIRE(page[i] == 2);
  REQUIRE(untouched[0] == 0);
  page[0] = untouched[0] = 5;
  open_device();
  float* own = managed_memory(PAGE);
  REQUIRE(own != page && own != untouched);
  for (int i = 0; i < COUNT; ++i) own[i] = (float)i;
  twice(own);
  for (int i = 0; i < COUNT; ++i) REQUIRE(own[i] == 2 * (float)i);
  REQUIRE(page[0] == 5 && untouched[0] == 5);
  page[0] = 2;
  untouched[0] = 0;
  if (generation == 0) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (int i = 0; i < COUNT; ++i) REQUIRE(own[i] == 2 * (float)i);
      as_a_child(page, untouched, generation + 1);
      _exit(0);
    }
    REQUIRE(ended_well(child));
  }
  OK(aclrtFree(own));
  OK(aclFinalize());
}

int main(void) {
  open_device();
  float* memory = managed_memory(2 * PAGE);
  for (int i = 0; i < COUNT; ++i) memory[i] = 1;
  twice(memory); /* the card has the page when the child is made */
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    as_a_child(memory, memory + PAGE / sizeof *memory, 0);
    _exit(0);
  }
  memory[1] = 7;
  REQUIRE(ended_well(child));
  REQUIRE(memory[0] == 2 && memory[1] == 7);
  REQUIRE(system("true") == 0);
  OK(aclrtFree(memory));
  return end_right();
}
