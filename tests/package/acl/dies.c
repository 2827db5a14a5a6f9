/* SPDX-License-Identifier: Apache-2.0 */
/* Ends in the middle of its work: `dies abort`, `exit`, `kill` or `stop`. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  open_device();
  aclrtStream stream = new_stream();
  void* memory = device_memory((size_t)1 << 30);
  OK(aclrtMemsetAsync(memory, (size_t)1 << 30, 1, (size_t)1 << 30, stream));
  if (strcmp(argv[1], "abort") == 0) abort();
  if (strcmp(argv[1], "exit") == 0) _exit(7);
  if (strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[1], "stop") == 0) kill(getpid(), SIGSTOP);
  return 0;
}
