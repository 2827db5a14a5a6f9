/* SPDX-License-Identifier: Apache-2.0 */
/* spawns PROGRAM: starts it without fork(), in three ways, and goes on calling meanwhile. */
#define _DEFAULT_SOURCE
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

int main(int argc, char** argv) {
  char* words[] = {argv[argc - 1], NULL};
  char line[256] = "";
  void* memory = NULL;
  pid_t child = 0, other = 0;
  int status = -1;
  FILE* output = NULL;
  open_device();
  REQUIRE(posix_spawn(&child, argv[1], NULL, NULL, words, environ) == 0);
  other = vfork();
  if (other == 0) {
    execv(argv[1], words);
    _exit(127);
  }
  output = popen(argv[1], "r");
  REQUIRE(output != NULL);
  for (int i = 0; i < 300; ++i) {
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, 4096, i, 4096));
    OK(aclrtFree(memory));
  }
  while (fgets(line, sizeof line, output) != NULL) {
  }
  REQUIRE(pclose(output) == 0);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(waitpid(other, &status, 0) == other && status == 0);
  return end_right();
}
