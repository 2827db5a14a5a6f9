/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a program that must give this error code; the program ends with 1 if it does not. */
#ifndef CHECK_H
#define CHECK_H

#include <runtime/rt.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(code, call)                                                                  \
  do {                                                                                      \
    const rtError_t got_ = (call);                                                          \
    if (got_ != (code)) {                                                                   \
      fprintf(stderr, "%s:%d: %s: %d, expected %d\n", __FILE__, __LINE__, #call, (int)got_, \
              (int)(code));                                                                 \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)
#define OK(call) EXPECT(RT_ERROR_NONE, call)
#define REQUIRE(what)                                                    \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

#endif
