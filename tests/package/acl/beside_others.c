/* SPDX-License-Identifier: Apache-2.0 */
/* ACL, HAL and DSMI in one program, linked in whatever order, or, with ONLY_OPENED, opened by name
   beside ACL, where nobody else sees them: for npusim they are one program. Pointers of managed
   memory work, a thread's sleep takes simulated time. beside_others [LIBRARY to be opened]... */
#define _GNU_SOURCE
#include <ascend_hal.h>
#include <dlfcn.h>
#include <dsmi/dsmi_common_interface.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SIZE ((size_t)4 << 20)

static void use_opened(const char* name) {
  uint32_t count = 0;
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  int (*number)(uint32_t*) = NULL;
  REQUIRE(library != NULL);
  *(void**)&number = dlsym(library, "drvGetDevNum");
  if (number == NULL) *(void**)&number = dlsym(library, "dsmi_get_device_count");
  REQUIRE(number != NULL && number(&count) == 0 && count == 1);
}

static void use_all(void) {
#ifndef ONLY_OPENED
  uint32_t count = 0;
  int cards = 0;
  REQUIRE(drvGetDevNum(&count) == DRV_ERROR_NONE && count == 1);
  REQUIRE(dsmi_get_device_count(&cards) == 0 && cards == 1);
#endif
}

static void touch(char* memory) {
  int zeros = open("/dev/zero", O_RDONLY);
  OK(aclrtMemset(memory, SIZE, 'c', SIZE));
  REQUIRE(memory[0] == 'c' && memory[SIZE - 1] == 'c');
  OK(aclrtMemset(memory, SIZE, 'd', SIZE));
  REQUIRE(zeros >= 0 && read(zeros, memory, SIZE) == (ssize_t)SIZE);
  REQUIRE(memory[0] == 0 && memory[SIZE - 1] == 0);
  close(zeros);
  OK(aclrtMemset(memory, SIZE, 'e', SIZE));
}

static void in_a_child(const char* memory) {
  int status = 0;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(memory[0] == 'e' && memory[SIZE - 1] == 'e' ? 0 : 1);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char** argv) {
  open_device();
  for (int i = 1; i < argc; ++i) use_opened(argv[i]);
  char* memory = managed_memory(SIZE);
  for (int i = 0; i < 2; ++i) {
    touch(memory);
    in_a_child(memory);
    use_all();
  }
  REQUIRE(usleep(900000) == 0);
  OK(aclrtFree(memory));
  return end_right();
}
