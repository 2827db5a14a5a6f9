/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory of two cards at random, against a copy on the host: written and read through its
   pointer, by kernels and copies of either card, moved and advised; a card is reset and set again
   meanwhile. Memory that was allocated on a card ends with its reset.
   managed_cards SEED STEPS */
#include <string.h>

#include "spin.h"

#define PAGE ((size_t)2 << 20)
#define PAGES 6
#define WORDS (PAGES * PAGE / sizeof(float))
#define PIECE 1000

static uint64_t state;
static float *memory, *mine, *plain[2];
static aclrtStream streams[2];
static aclrtFuncHandle add;

static uint32_t draw(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void open_card(int card) {
  OK(aclrtSetDevice(card));
  OK(aclrtCreateStream(&streams[card]));
  OK(aclrtMalloc((void**)&plain[card], PIECE * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
}

static void twice(int card, size_t at, size_t words) {
  const uint64_t place = (uint64_t)(memory + at);
  const npusim_elementwise_args args = {place, place, place, words, ACL_FLOAT};
  OK(aclrtLaunchKernel(add, 2, &args, sizeof args, streams[card]));
  OK(aclrtSynchronizeStream(streams[card]));
  for (size_t i = 0; i < words; ++i) mine[at + i] += mine[at + i];
}

/* By way of ordinary memory of a card, which need not be the thread's. */
static void through_a_card(int card, size_t from, size_t to, size_t words) {
  const size_t bytes = words * sizeof(float);
  OK(aclrtMemcpy(plain[card], bytes, memory + from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  if (draw(2) == 0) OK(aclrtSetDevice(1 - card));
  OK(aclrtMemcpy(memory + to, bytes, plain[card], bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  memcpy(mine + to, mine + from, bytes);
}

static void anywhere(int card, size_t at, size_t words) {
  const aclrtMemManagedLocation where = {ACL_MEM_LOCATIONTYPE_DEVICE, draw(2)};
  const size_t bytes = words * sizeof(float);
  if (draw(2) == 0) {
    OK(aclrtMemManagedAdvise(memory + at, bytes, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, where));
  } else {
    OK(aclrtMemManagedPrefetchAsync(memory + at, bytes, where, 0, streams[card]));
  }
}

static void step(void) {
  const int card = (int)draw(2);
  const size_t words = 1 + draw(PIECE), at = draw(WORDS - PIECE), to = draw(WORDS - PIECE);
  OK(aclrtSetDevice(card));
  switch (draw(10)) {
    case 0:
    case 1:
      for (size_t i = 0; i < words; ++i) memory[at + i] = mine[at + i] = (float)draw(1000);
      break;
    case 2:
    case 3:
      REQUIRE(memcmp(memory + at, mine + at, words * sizeof(float)) == 0);
      break;
    case 4:
    case 5:
      twice(card, at, words);
      break;
    case 6:
      if (at + words <= to || to + words <= at) through_a_card(card, at, to, words);
      break;
    case 7:
      OK(aclrtMemset(memory + at, words * sizeof(float), 0, words * sizeof(float)));
      memset(mine + at, 0, words * sizeof(float));
      break;
    case 8:
      anywhere(card, at, words);
      break;
    default: /* the memory is card 0's */
      if (draw(4) != 0) break;
      OK(aclrtResetDeviceForce(1));
      OK(aclrtSetDevice(0));
      REQUIRE(memory[at] == mine[at]);
      open_card(1);
  }
}

int main(int argc, char** argv) {
  const int steps = atoi(argv[argc - 1]);
  state = (uint64_t)atoi(argv[argc - 2]) + 1;
  OK(aclInit(NULL));
  open_card(0);
  OK(aclrtMemAllocManaged((void**)&memory, PAGES * PAGE, 1));
  add = built_in("add");
  memset(memory, 0, PAGES * PAGE / 2);
  open_card(1); /* which comes later */
  mine = calloc(WORDS, sizeof(float));
  OK(aclrtMemset((char*)memory + PAGES * PAGE / 2, PAGES * PAGE / 2, 0, PAGES * PAGE / 2));
  for (int i = 0; i < steps; ++i) step();
  REQUIRE(memcmp(memory, mine, PAGES * PAGE) == 0);
  OK(aclrtSetDevice(1));
  float* others = managed_memory(PAGE);
  others[0] = 5;
  OK(aclrtResetDeviceForce(1));
  OK(aclrtSetDevice(0));
  REQUIRE(aclrtFree(others) != ACL_SUCCESS);
  REQUIRE(memcmp(memory, mine, PAGES * PAGE) == 0);
  OK(aclrtFree(memory));
  OK(aclFinalize());
  free(mine);
  puts("right");
  return 0;
}
