/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime below the ACL (libruntime), as far as npusim has it (docs/sources/acl.md L7). Written
   for npusim with the public names and values. The ACL's functions check their parameters and call
   these, so that whoever puts functions of these names in front sees them, too.

   What holds for all: a null pointer, a size of 0 where a thing is needed, or a number that stands
   for nothing is 107000; a call that needs a context before rtSetDevice() is 107002; a handle that
   is none is 107017; 507899: the program does not run under `npusim exec`; 500000: a signal's
   handler calls in the midst of its thread's own call. What is said of a call's own errors comes on
   top. Device, context and the text of errors belong to the calling thread. A module is a number of
   16 bits by which memory is counted (rtGetMemUsageInfo). */
#ifndef NPUSIM_RT_BASE_H
#define NPUSIM_RT_BASE_H

#include <acl/error_codes/rt_error_codes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RTS_API __attribute__((visibility("default")))
#else
#define RTS_API
#endif

typedef int32_t rtError_t;
#define RT_ERROR_NONE 0
typedef void* rtContext_t;
typedef void* rtStream_t;
typedef void* rtEvent_t;
typedef void* rtModel_t;

#endif
