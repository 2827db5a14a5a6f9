/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory through its pointer, at twice the memory of the card: written here and there in an
   order that the seed says, doubled by a kernel, read by the program, by a child, by read() and
   write(), while signals come whose handler touches it, too.
   pointers MIB SEED SIGNALS */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define PAGE ((size_t)2 << 20)
#define WORDS (PAGE / sizeof(float))

static volatile int32_t* ticks;
static uint64_t state;

static uint32_t draw(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

static void tick(int number) {
  (void)number;
  ++*ticks;
}

static float value(size_t page, size_t word) {
  return (float)((page * 7919 + word * 31) % 1000003);
}

/* Some words of each page; none of them in the last one of the memory, which is the handler's. */
static size_t word_of(size_t page, size_t i) {
  return (page * 131 + i * 4093) % WORDS;
}

#define PER_PAGE 64

static size_t wrong(const float* memory, size_t pages, float times) {
  size_t count = 0;
  for (size_t page = 0; page < pages; ++page) {
    for (size_t i = 0; i < PER_PAGE; ++i) {
      const size_t word = word_of(page, i);
      count += memory[page * WORDS + word] != times * value(page, word);
    }
  }
  return count;
}

static void through_a_pipe(float* memory, size_t pages) {
  int ends[2];
  char* const from = (char*)memory;
  char* const to = (char*)(memory + pages / 2 * WORDS);
  static const char kWord[] = "through a pipe";
  char kept[sizeof kWord], before[sizeof kWord];
  memcpy(kept, to, sizeof kWord);
  memcpy(before, from, sizeof kWord);
  REQUIRE(pipe(ends) == 0);
  memcpy(from, kWord, sizeof kWord);
  REQUIRE(write(ends[1], from, sizeof kWord) == (ssize_t)sizeof kWord);
  REQUIRE(read(ends[0], to, sizeof kWord) == (ssize_t)sizeof kWord);
  REQUIRE(memcmp(to, kWord, sizeof kWord) == 0);
  memcpy(to, kept, sizeof kWord);
  memcpy(from, before, sizeof kWord);
  close(ends[0]);
  close(ends[1]);
}

/* The child has its own bytes from now on. */
static void in_a_child(float* memory, size_t pages) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const size_t bad = wrong(memory, pages, 2);
    memset(memory, 0, PAGE);
    _exit(bad == 0 && wrong(memory, 1, 0) == 0 ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  REQUIRE(status == 0);
}

static void launch(aclrtFuncHandle add, float* memory, size_t pages, aclrtStream stream) {
  for (size_t i = 0; i < pages; ++i) {
    const uint64_t at = (uint64_t)(memory + i * WORDS);
    const npusim_elementwise_args twice = {at, at, at, WORDS, ACL_FLOAT};
    OK(aclrtLaunchKernel(add, 4, &twice, sizeof twice, stream));
  }
}

int main(int argc, char** argv) {
  const size_t pages = (size_t)atoi(argv[argc - 3]) / 2;
  const int with_signals = atoi(argv[argc - 1]);
  state = (uint64_t)atoi(argv[argc - 2]) + 1;
  open_device();
  float* memory = managed_memory((pages + 1) * PAGE);
  aclrtStream stream = new_stream();
  aclrtFuncHandle add = built_in("add");
  ticks = (volatile int32_t*)(memory + pages * WORDS);
  *ticks = 0;
  if (with_signals) {
    struct sigaction action;
    const struct itimerval often = {{0, 300}, {0, 300}};
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
    REQUIRE(setitimer(ITIMER_REAL, &often, NULL) == 0);
  }
  for (size_t page = 0; page < pages; ++page) {
    for (size_t i = 0; i < PER_PAGE; ++i) {
      memory[page * WORDS + word_of(page, i)] = value(page, word_of(page, i));
    }
  }
  launch(add, memory, pages, stream);
  for (size_t i = 0; i < pages; ++i) { /* while the card works: its pages come and go */
    const size_t page = draw((uint32_t)pages), word = word_of(page, draw(PER_PAGE));
    const float now = memory[page * WORDS + word];
    REQUIRE(now == value(page, word) || now == 2 * value(page, word));
  }
  OK(aclrtSynchronizeStream(stream));
  in_a_child(memory, pages);
  for (size_t i = 0; i < pages; ++i) { /* what the program writes between */
    const size_t page = draw((uint32_t)pages), word = word_of(page, draw(PER_PAGE));
    memory[page * WORDS + word] = 2 * value(page, word);
  }
  through_a_pipe(memory, pages);
  launch(add, memory, pages, stream);
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(wrong(memory, pages, 4) == 0);
  REQUIRE(!with_signals || *ticks > 0);
  if (with_signals) {
    const struct itimerval never = {{0, 0}, {0, 0}};
    REQUIRE(setitimer(ITIMER_REAL, &never, NULL) == 0);
  }
  OK(aclrtFree(memory));
  OK(aclrtDestroyStream(stream));
  return end_right();
}
