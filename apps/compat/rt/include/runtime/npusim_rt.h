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
