/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a program that must give this code; the program ends with 1 if it does not. */
#ifndef CHECK_H
#define CHECK_H

#include <acl/acl.h>
#include <dsmi/dcmi_interface_api.h>
#include <dsmi/dsmi_common_interface.h>

#include "../require.h"

#define OK(call) EXPECT(0, call)

/* The end of main(). */
static inline int end_right(void) {
  OK(aclFinalize());
  puts("right");
  return 0;
}

#endif
