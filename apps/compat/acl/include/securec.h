/* SPDX-License-Identifier: Apache-2.0 */
/* Fills and copies that know how much room there is. 0, or what has failed: 22, a null pointer; 34,
   more than there is room. */
#ifndef NPUSIM_SECUREC_H
#define NPUSIM_SECUREC_H

#include <stddef.h>
#include <string.h>

typedef int errno_t;
#define EOK 0

static inline errno_t memset_s(void* to, size_t room, int value, size_t count) {
  if (to == NULL) return 22;
  if (count > room) return 34;
  memset(to, value, count);
  return EOK;
}

static inline errno_t memcpy_s(void* to, size_t room, const void* from, size_t count) {
  if (to == NULL || from == NULL) return 22;
  if (count > room) return 34;
  memcpy(to, from, count);
  return EOK;
}

static inline errno_t strcpy_s(char* to, size_t room, const char* from) {
  return memcpy_s(to, room, from, from == NULL ? 0 : strlen(from) + 1);
}

#endif
