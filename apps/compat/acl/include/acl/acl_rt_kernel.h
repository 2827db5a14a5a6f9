/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and variables of global memory by what stands for them in the host's part of a source
   (`npusim cc --host`), what a kernel's parameters are, and arguments in the program's memory. */
#ifndef NPUSIM_ACL_RT_KERNEL_H
#define NPUSIM_ACL_RT_KERNEL_H

#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Symbols. `symbol`: the address of a kernel's function, or of a `__gm__` variable of a file.
   107000: it is of the other kind. 100000: nothing is known by it; `offset` and `count` go beyond the variable. A device has
   variables of its own, the thread's is meant. */
ACL_FUNC_VISIBILITY aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* function);
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolAddress(const void* symbol, void** address);
ACL_FUNC_VISIBILITY aclError aclrtGetSymbolSize(const void* symbol, size_t* size);
/* As aclrtMemcpy() and aclrtMemcpyAsync(). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbol(const void* symbol, const void* source,
                                                 size_t count, size_t offset,
                                                 aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                      size_t count, size_t offset,
                                                      aclrtMemcpyKind kind, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbol(void* to, size_t room, const void* symbol,
                                                   size_t count, size_t offset,
                                                   aclrtMemcpyKind kind);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyFromSymbolAsync(void* to, size_t room, const void* symbol,
                                                        size_t count, size_t offset,
                                                        aclrtMemcpyKind kind, aclrtStream stream);
/* A variable of the binary on the thread's device. Either result may be null. 107000: none of that
   name. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetGlobal(aclrtBinHandle binary, const char* name,
                                                  void** address, size_t* size);
/* Of the binary's first kernel, whose code is one image; further kernels have images of their own. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetDevAddress(aclrtBinHandle binary, void** address,
                                                      size_t* size);

/* --- What a kernel is. */
typedef enum {
  ACL_FUNC_ATTR_KERNEL_TYPE = 1, /* aclrtKernelType */
  ACL_FUNC_ATTR_KERNEL_RATIO = 2 /* bits 31..16: cube cores of a block, 15..0: vector cores */
} aclrtFuncAttribute;
typedef enum {
  ACL_KERNEL_TYPE_AICORE = 0,
  ACL_KERNEL_TYPE_CUBE = 1,
  ACL_KERNEL_TYPE_VECTOR = 2,
  ACL_KERNEL_TYPE_MIX = 3,
  ACL_KERNEL_TYPE_AICPU = 100
} aclrtKernelType;
/* 207000: another attribute. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAttribute(aclrtFuncHandle function,
                                                       aclrtFuncAttribute attribute,
                                                       int64_t* value);
/* Bytes of the launch's arguments. 207000: the kernel's parameters are not known, as those of npusim's
   own kernels, and of instances of templates. 100000: no such index. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamCount(aclrtFuncHandle function, size_t* count);
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetParamInfo(aclrtFuncHandle function, size_t index,
                                                       size_t* offset, size_t* size);
/* 0 bytes: kernels are programs of one thread, which have no local memory given by the launch. */
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetAvailDynUbufPerBlock(aclrtFuncHandle function,
                                                                  uint32_t flags, size_t* size);

/* --- Launches. `function`: a handle, or a symbol. `args`: for each parameter the address of its
   value. 207000: the kernel's parameters are not known. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithArgsArray(void* function, uint32_t blocks,
                                                            aclrtStream stream,
                                                            aclrtLaunchKernelCfg* config,
                                                            void** args);
/* As aclrtKernelArgsInit(), in memory of the program's that it gives back itself: `args` of the
   first size below, `memory` of the second, in which parameters and the data of place holders
   are. 100000: `args` is not aligned to 8 bytes; more than 4096 bytes. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle function,
                                                          aclrtArgsHandle args, void* memory,
                                                          size_t size);
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle function,
                                                             size_t* size);
/* For `user_size` bytes of parameters and data, each rounded to a multiple of 8. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle function, size_t user_size,
                                                       size_t* size);
/* Another value of a parameter, of the same size. The next launch is behind another
   aclrtKernelArgsFinalize(). 100000: no such parameter, a place holder, another size. */
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle args,
                                                       aclrtParamHandle handle, void* parameter,
                                                       size_t size);

#ifdef __cplusplus
}
#endif
#endif
