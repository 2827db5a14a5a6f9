/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries, functions, launches. A binary is a shared object of docs/guide; what a function takes
   is copied by the launch. Every launch of the ACL's, and of its operators, is one of
   rtKernelLaunchWithHandleV2(). */
#ifndef NPUSIM_RT_KERNEL_H
#define NPUSIM_RT_KERNEL_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which cores a binary is for. */
#define RT_DEV_BINARY_MAGIC_ELF 0x43554245U
#define RT_DEV_BINARY_MAGIC_ELF_AIVEC 0x41415246U
#define RT_DEV_BINARY_MAGIC_ELF_AICUBE 0x41494343U
#define NPUSIM_RT_MAGIC_BUILT_IN \
  0x4E505542U /* the kernels of acl/npusim_kernels.h; without bytes */
typedef struct {
  uint32_t magic;
  uint32_t version; /* not looked at */
  const void* data;
  uint64_t length; /* bytes */
} rtDevBinary_t;
/* 107000: it is no kernel, or larger than 64 MiB. */
RTS_API rtError_t rtDevBinaryRegister(const rtDevBinary_t* binary, void** handle);
RTS_API rtError_t rtRegisterAllKernel(const rtDevBinary_t* binary, void** handle);
RTS_API rtError_t rtDevBinaryUnRegister(void* handle);

typedef void* rtBinHandle;
typedef void* rtFuncHandle;
/* The kernel of that name; of a binary without names any will do. 107000: there is none. */
RTS_API rtError_t rtsFuncGetByName(const rtBinHandle binary, const char* name,
                                   rtFuncHandle* function);
/* The address `stub` stands for the kernel `name` of the binary from now on. `info` and `mode` are
   not looked at. 107000: it stands for one already. */
RTS_API rtError_t rtFunctionRegister(void* binary, const void* stub, const char* name,
                                     const void* info, uint32_t mode);
RTS_API rtError_t rtGetFunctionByName(const char* name, void** stub);

typedef struct {
  uint32_t addrOffset; /* there the address is written ... */
  uint32_t dataOffset; /* ... of what lies here */
} rtHostInputInfo_t;
typedef struct tagRtArgsEx {
  void* args;
  rtHostInputInfo_t* hostInputInfoPtr;
  uint32_t argsSize;
  uint32_t tilingAddrOffset;
  uint32_t tilingDataOffset;
  uint16_t hostInputInfoNum;
  uint8_t hasTiling;       /* the two offsets above are one more place */
  uint8_t isNoNeedH2DCopy; /* not 0: `args` is device memory, read when the kernel runs; 107000: it
                              is not, is not aligned to 64, or there are places */
  uint8_t reserved[4];
} rtArgsEx_t;
typedef struct tagRtSmCtrl rtSmDesc_t; /* of the L2; null, or not looked at */
typedef struct tagRtTaskCfgInfo {
  uint8_t qos;
  uint8_t partId;
  uint8_t schemMode;
  bool d2dCrossFlag;
  uint32_t blockDimOffset;
  uint8_t dumpflag;
  uint8_t neverTimeout;
  uint8_t rev[2]; /* npusim: [0] is 0, or 1: on cube cores, 2: on vector cores */
  uint32_t localMemorySize;
} rtTaskCfgInfo_t;

/* `blocks` of 1 .. 65535 in the order of the stream. `handle`: of a function, or of a binary, whose
   only kernel it is then; `tiling_key`, `sm` and what is not named of `config` (may be null) are
   not looked at. */
RTS_API rtError_t rtKernelLaunchWithHandleV2(void* handle, const uint64_t tiling_key,
                                             uint32_t blocks, rtArgsEx_t* args, rtSmDesc_t* sm,
                                             rtStream_t stream, const rtTaskCfgInfo_t* config);
RTS_API rtError_t rtKernelLaunchWithHandle(void* handle, const uint64_t tiling_key, uint32_t blocks,
                                           rtArgsEx_t* args, rtSmDesc_t* sm, rtStream_t stream,
                                           const void* info);
/* Of a stub's function. 107000: the address stands for none. */
RTS_API rtError_t rtKernelLaunch(const void* stub, uint32_t blocks, void* args, uint32_t size,
                                 rtSmDesc_t* sm, rtStream_t stream);
RTS_API rtError_t rtKernelLaunchWithFlag(const void* stub, uint32_t blocks, rtArgsEx_t* args,
                                         rtSmDesc_t* sm, rtStream_t stream, uint32_t flags);
RTS_API rtError_t rtKernelLaunchWithFlagV2(const void* stub, uint32_t blocks, rtArgsEx_t* args,
                                           rtSmDesc_t* sm, rtStream_t stream, uint32_t flags,
                                           const rtTaskCfgInfo_t* config);

typedef struct tagRtAicpuArgsEx {
  void* args;
  rtHostInputInfo_t* hostInputInfoPtr;
  rtHostInputInfo_t* kernelOffsetInfoPtr;
  uint32_t argsSize;
  uint16_t hostInputInfoNum;
  uint16_t kernelOffsetInfoNum;
  uint32_t soNameAddrOffset;
  uint32_t kernelNameAddrOffset;
  bool isNoNeedH2DCopy;
  uint16_t timeout;
  uint8_t reserved;
} rtAicpuArgsEx_t;
/* Programs have no kernels on AICPUs here: 207000. */
RTS_API rtError_t rtAicpuKernelLaunchExWithArgs(const uint32_t type, const char* const name,
                                                const uint32_t blocks, const rtAicpuArgsEx_t* args,
                                                rtSmDesc_t* const sm, const rtStream_t stream,
                                                const uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
