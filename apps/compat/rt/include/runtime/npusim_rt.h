/* SPDX-License-Identifier: Apache-2.0 */
/* npusim's own: what libascendcl needs of libruntime and what the public runtime has no function
   for. Programs call the ACL instead. */
#ifndef NPUSIM_NPUSIM_RT_H
#define NPUSIM_NPUSIM_RT_H

#include <runtime/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* aclInit(), aclFinalize(), aclFinalizeReference(), aclGetRecentErrMsg(). */
RTS_API rtError_t npusimRtInit(void);
RTS_API rtError_t npusimRtFinalize(void);
RTS_API rtError_t npusimRtFinalizeReference(uint64_t* count);
RTS_API const char* npusimRtErrorMessage(void);
/* npusimGetMemoryUse(): limit, used, most, refused; npusimLimitMemory(). */
RTS_API rtError_t npusimRtMemoryUse(uint64_t use[4]);
RTS_API rtError_t npusimRtLimitMemory(uint64_t bytes);
/* An operator that npusim compiles on demand, in the stream's order (acl/acl_op.h says more).
   107000: more than 16 tensors, more than 8 dimensions, a name of more than 64 letters; 100024: no
   such operator; 100021, 100022: inputs, outputs that it does not have. */
typedef struct {
  void* data;
  uint64_t bytes; /* from there on */
  uint32_t type;  /* aclDataType */
  uint32_t dimensions;
  uint64_t sides[8];
} npusimRtTensor;
typedef struct {
  const char* name;
  const npusimRtTensor* tensors; /* inputs, then results */
  uint32_t inputs, results;
  float epsilon, scale, value;
} npusimRtOperator;
RTS_API rtError_t npusimRtRunOperator(const npusimRtOperator* wanted, rtStream_t stream);
/* aclrtGetDeviceInfo(): by the ACL's numbers of attributes. */
RTS_API rtError_t npusimRtDeviceAttribute(uint32_t device, uint32_t attribute, int64_t* value);
/* aclrtGetDeviceUtilizationRate(): percent of cube cores, vector cores, AICPUs, memory. */
RTS_API rtError_t npusimRtUtilization(int32_t device, int32_t percent[4]);
/* The machine's number of a device of the program's, -1: there is none. */
RTS_API int64_t npusimRtMachineDevice(int32_t device);
/* aclrtDeviceEnablePeerAccess() of the thread's device; `enable` 0: it ends. */
RTS_API rtError_t npusimRtPeerAccess(int32_t peer, int32_t enable);

#ifdef __cplusplus
}
#endif
#endif
