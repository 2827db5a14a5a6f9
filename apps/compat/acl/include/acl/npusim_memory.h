/* SPDX-License-Identifier: Apache-2.0 */
/* The device memory that counts for a process, by whichever interface it was had: bytes of whole
   pages of 2 MiB on all cards. What the driver keeps there for the process does not count. Of a
   program with a quota (npusim exec --share p0=memory=...) it is that of the program and its
   children. */
#ifndef NPUSIM_MEMORY_H
#define NPUSIM_MEMORY_H

#include <acl/acl_rt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct npusim_memory_use {
  uint64_t limit;   /* bytes; UINT64_MAX: none */
  uint64_t used;    /* bytes */
  uint64_t most;    /* bytes that were in use at a time */
  uint64_t refused; /* calls */
} npusim_memory_use;

/* 100000: `use` is null. */
ACL_FUNC_VISIBILITY aclError npusimGetMemoryUse(npusim_memory_use* use);
/* From now on what passes `bytes` is refused with 207001; what there is stays. No more than the
   quota that the program was started with. For layers that share a card (apps/compat/share). */
ACL_FUNC_VISIBILITY aclError npusimLimitMemory(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
