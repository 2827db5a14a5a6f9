/* SPDX-License-Identifier: Apache-2.0 */
/* tools LIBRARY: a tool that opens the library by its name and takes functions by theirs; the cards
   of a child are there, too, and events are waited for in simulated time. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void* library;

static void* function(const char* name) {
  void* const found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(found != NULL);
  return found;
}

static int cards(void) {
  int (*init)(void);
  int (*list)(int*, int*, int);
  int found = 0, ids[64];
  *(void**)&init = function("dcmi_init");
  *(void**)&list = function("dcmi_get_card_list");
  OK(init());
  OK(list(&found, ids, 64));
  return found;
}

static void wait_for_nothing(void) {
  int (*read)(int, int, struct dsmi_event_filter, struct dsmi_event*);
  struct dsmi_event_filter all;
  struct dsmi_event event;
  memset(&all, 0, sizeof all);
  *(void**)&read = function("dsmi_read_fault_event");
  EXPECT(DSMI_ERROR_TIMEOUT, read(0, 10000, all, &event));
}

static void ignore(struct dsmi_event* event) {
  (void)event;
}

int main(int argc, char** argv) {
  int status = 0;
  pid_t child;
  int (*subscribe)(int, int, struct dsmi_event_filter, fault_event_callback);
  struct dsmi_event_filter all;
  memset(&all, 0, sizeof all);
  REQUIRE(argc == 2);
  library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(library != NULL);
  REQUIRE(cards() == 1);
  wait_for_nothing();
  *(void**)&subscribe = function("dcmi_subscribe_fault_event");
  OK(subscribe(-1, -1, all, ignore));
  child = fork();
  if (child == 0) exit(cards() == 1 ? 0 : 1);
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(cards() == 1);
  puts("right");
  return 0;
}
