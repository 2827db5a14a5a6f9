/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a program that must give this code; the program ends with 1 if it does not. */
#ifndef CHECK_H
#define CHECK_H

#include <acl/acl.h>
#include <dsmi/dcmi_interface_api.h>
#include <dsmi/dsmi_common_interface.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(code, call)                                                             \
  do {                                                                                 \
    const int got_ = (call);                                                           \
    if (got_ != (int)(code)) {                                                         \
      fprintf(stderr, "%s:%d: %s: %d, expected %d\n", __FILE__, __LINE__, #call, got_, \
              (int)(code));                                                            \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)
#define OK(call) EXPECT(0, call)
#define REQUIRE(what)                                                    \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

#endif
