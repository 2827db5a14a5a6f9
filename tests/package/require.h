/* SPDX-License-Identifier: Apache-2.0 */
/* What a program must find; it ends with 1 if it does not. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(code, call)                                                             \
  do {                                                                                 \
    const int got_ = (int)(call);                                                      \
    if (got_ != (int)(code)) {                                                         \
      fprintf(stderr, "%s:%d: %s: %d, expected %d\n", __FILE__, __LINE__, #call, got_, \
              (int)(code));                                                            \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)
#define REQUIRE(what)                                                    \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

#endif
