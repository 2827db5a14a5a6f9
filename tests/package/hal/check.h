/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a program that must give this code; the program ends with 1 if it does not. */
#ifndef CHECK_H
#define CHECK_H

#include <ascend_hal.h>

#include "../require.h"

#define OK(call) EXPECT(DRV_ERROR_NONE, call)

/* The end of main(). */
static inline int end_right(void) {
  OK(drvDeviceClose(0));
  puts("right");
  return 0;
}

#endif
