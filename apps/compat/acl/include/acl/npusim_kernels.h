/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that npusim brings along. aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, ...) gives a binary
   whose functions have the names below; the arguments of a launch are the structure of that name.
   Addresses are of device memory; types are those of aclDataType: ACL_FLOAT, ACL_FLOAT16, ACL_BF16,
   and for products ACL_INT8. What an argument cannot be ends the launch with 107000.

   The number of blocks of a launch, 1 to 65535, is how many cores it may use: those that it has no
   work for, and those that the card does not have, are left out. 100000: 0 blocks; 107000: more
   than 65535. */
#ifndef NPUSIM_KERNELS_H
#define NPUSIM_KERNELS_H

#include <acl/acl_rt.h>
#include <stddef.h>
#include <stdint.h>

#define NPUSIM_BUILT_IN "npusim:built-in"

/* "add", "sub", "mul", "max", "min": to[i] = a[i] op b[i], on vector cores. "copy", "relu", "exp":
   to[i] = f(a[i]); b is 0. "muls": to[i] = a[i] * s; b has the bits of s in fp32. */
typedef struct npusim_elementwise_args {
  uint64_t to, a, b;
  uint64_t count; /* elements */
  uint64_t type;  /* aclDataType */
} npusim_elementwise_args;

/* "matmul": c (m x n) = a (m x k) x b (k x n), row by row without gaps, on cube cores; of ACL_INT8
   c is ACL_INT32, else of the type of a and b. */
typedef struct npusim_matmul_args {
  uint64_t a, b, c;
  uint32_t m, n, k;
  uint32_t type; /* aclDataType of a and b */
} npusim_matmul_args;

/* "spin": every block keeps its core for so many clocks; a vector core, unless the launch says
   which engine it is for. */
typedef struct npusim_spin_args {
  uint64_t clocks;
} npusim_spin_args;

/* "random": numbers by Philox 4x32-10 of the seed, from the counter on (16 bytes of device memory,
   aligned to 8): see aclrtRandomNumAsync(). `distribution`: bits that are 1 with probability a 0,
   uniform 1 (a <= x < b), normal 2 and truncated normal 3 (mean a, standard deviation b; within two
   of them). a, b: integers of the type, or bits of fp32. */
typedef struct npusim_random_args {
  uint64_t to, counter, seed;
  uint64_t count; /* numbers, or bits */
  uint64_t a, b;
  uint32_t distribution;
  uint32_t type; /* aclDataType */
} npusim_random_args;

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels and variables of an object that `npusim cc --host` makes. */
typedef struct npusim_object {
  const void* kernels; /* a file of kernels */
  size_t size;
  aclrtBinHandle binary; /* null: not loaded */
} npusim_object;
/* A kernel or a variable of global memory, which programs name by the address of what stands for it
   on the host. Called in front of main(). The texts stay where they are. */
ACL_FUNC_VISIBILITY void npusimRegisterSymbol(npusim_object* object, const void* symbol,
                                              const char* name);
/* When the program ends, or gives the library back that the object is in. */
ACL_FUNC_VISIBILITY void npusimForgetSymbol(const void* symbol);
/* Loads the object's kernels when they are first wanted, and when the program has given those that
   it had back with the device. Errors: of aclrtBinaryLoadFromData(), aclrtBinaryGetFunction(). */
ACL_FUNC_VISIBILITY aclError npusimFindKernel(npusim_object* object, const char* name,
                                              aclrtFuncHandle* function);

/* For kernels that print, as objects of `npusim cc --host` launch them. The launch has `bytes` of
   zeroed device memory, whose address is put at `address_offset` of its arguments. When the program
   has waited for the stream or the device, or gives one of them back, `print` is called with a copy
   of this memory, its bytes, and `part`. */
typedef struct npusim_printing {
  size_t bytes;
  size_t part;
  size_t address_offset;
  void (*print)(const void* text, size_t bytes, size_t part);
} npusim_printing;
/* As aclrtLaunchKernel(), and waits for the kernel, whose error is told by the program's own wait.
   207001: no memory for what it prints. */
ACL_FUNC_VISIBILITY aclError npusimLaunchPrintingKernel(aclrtFuncHandle function, uint32_t blocks,
                                                        const void* args, size_t size,
                                                        aclrtStream stream,
                                                        const npusim_printing* printing);

#ifdef __cplusplus
}
#endif

#endif
