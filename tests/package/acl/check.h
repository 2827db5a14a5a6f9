/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a program that must give this error code; the program ends with 1 if it does not. And
   the steps that most programs begin and end with. */
#ifndef CHECK_H
#define CHECK_H

#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(code, call)                                                                 \
  do {                                                                                     \
    const aclError got_ = (call);                                                          \
    if (got_ != (code)) {                                                                  \
      fprintf(stderr, "%s:%d: %s: %d, expected %d: %s\n", __FILE__, __LINE__, #call, got_, \
              (int)(code), aclGetRecentErrMsg());                                          \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)
#define OK(call) EXPECT(ACL_SUCCESS, call)
#define REQUIRE(what)                                                    \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

static inline void open_device(void) {
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
}

static inline aclrtStream new_stream(void) {
  aclrtStream stream = NULL;
  OK(aclrtCreateStream(&stream));
  return stream;
}

static inline aclrtEvent new_event(void) {
  aclrtEvent event = NULL;
  OK(aclrtCreateEvent(&event));
  return event;
}

static inline void* device_memory(size_t size) {
  void* memory = NULL;
  OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

static inline void* pinned_memory(size_t size) {
  void* memory = NULL;
  OK(aclrtMallocHost(&memory, size));
  return memory;
}

static inline void* managed_memory(size_t size) {
  void* memory = NULL;
  OK(aclrtMemAllocManaged(&memory, size, 1));
  return memory;
}

/* What there is of the device's memory that nobody has. */
static inline size_t free_memory(void) {
  size_t free = 0, total = 0;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

/* The end of main(). */
static inline int end_right(void) {
  OK(aclFinalize());
  puts("right");
  return 0;
}

#endif
