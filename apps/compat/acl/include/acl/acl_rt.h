/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime part of the ACL (docs/sources/acl.md L1). Device addresses are void pointers. But for
   managed memory, only these functions may use them. A null pointer or a size of 0 where a thing is
   needed is 100000; a call that needs a context before aclrtSetDevice() is 107002; a handle that is
   none, 107017. What is said of a call's own errors comes on top. A stream that is null is the
   default one of the thread's context. Device, context and the text of errors belong to the calling
   thread. */
#ifndef NPUSIM_ACL_RT_H
#define NPUSIM_ACL_RT_H

#include <acl/acl_base.h>
#include <acl/acl_rt_allocator.h>
#include <acl/acl_rt_batch.h>
#include <acl/acl_rt_control.h>
#include <acl/acl_rt_hook.h>
#include <acl/acl_rt_model.h>
#include <acl/acl_rt_more.h>
#include <acl/acl_rt_query.h>
#include <acl/acl_rt_kernel.h>
#include <acl/acl_rt_snapshot.h>
#include <acl/acl_rt_sync.h>
#include <acl/acl_rt_tasks.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_RT_CALL ACL_FUNC_VISIBILITY aclError

/* --- Devices. 107001: there is no such device. */
ACL_RT_CALL aclrtGetDeviceCount(uint32_t* count);
/* Opens the device for the process, makes its primary context the thread's, and counts. */
ACL_RT_CALL aclrtSetDevice(int32_t device);
/* Takes one aclrtSetDevice() back; the last one gives all of the process on the device back. */
ACL_RT_CALL aclrtResetDevice(int32_t device);
ACL_RT_CALL aclrtResetDeviceForce(int32_t device);
/* 107002: none is set. */
ACL_RT_CALL aclrtGetDevice(int32_t* device);
/* The host: programs never run on the card. */
ACL_RT_CALL aclrtGetRunMode(aclrtRunMode* mode);
/* "Ascend910B2"; null: none. */
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);
ACL_RT_CALL aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value);
ACL_RT_CALL aclrtGetDeviceUtilizationRate(int32_t device, aclrtUtilizationInfo* info);
ACL_RT_CALL aclrtQueryDeviceStatus(int32_t device, aclrtDeviceStatus* status);
ACL_RT_CALL aclrtSynchronizeDevice(void);
/* Of the process. 107000: more cores than the card has. Later streams and queries have it; blocks
   of a launch that says how many it wants run on these cores. */
ACL_RT_CALL aclrtSetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t value);
ACL_RT_CALL aclrtGetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t* value);
ACL_RT_CALL aclrtResetDeviceResLimit(int32_t device);
ACL_RT_CALL aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);
ACL_RT_CALL aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value);
ACL_RT_CALL aclrtResetStreamResLimit(aclrtStream stream);

/* What the calling thread asks for is the stream's, until it is no longer in use. */
ACL_RT_CALL aclrtUseStreamResInCurrentThread(aclrtStream stream);
ACL_RT_CALL aclrtUnuseStreamResInCurrentThread(aclrtStream stream);
ACL_RT_CALL aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

/* --- Cards among each other. Copies between cards with a link need no permission. 107001: there is
   no such device; 207000: no link between the two. */
ACL_RT_CALL aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t peer);
/* Of the thread's device; `flags` is 0. */
ACL_RT_CALL aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags);
ACL_RT_CALL aclrtDeviceDisablePeerAccess(int32_t peer);

/* --- Contexts */
ACL_RT_CALL aclrtCreateContext(aclrtContext* context, int32_t device);
ACL_RT_CALL aclrtDestroyContext(aclrtContext context);
ACL_RT_CALL aclrtSetCurrentContext(aclrtContext context);
ACL_RT_CALL aclrtGetCurrentContext(aclrtContext* context);

/* --- Streams: what is submitted to one runs in its order. 207008: all in use; 107003: of another
   context. Priorities and flags are taken and do not change anything but the order in which the
   card looks at streams (0 first). */
ACL_RT_CALL aclrtCreateStream(aclrtStream* stream);
ACL_RT_CALL aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);
/* Waits for what was submitted. */
ACL_RT_CALL aclrtDestroyStream(aclrtStream stream);
/* Gives it up. */
ACL_RT_CALL aclrtDestroyStreamForce(aclrtStream stream);
/* 507015, 507035: a kernel has failed on a cube or a vector core; the stream takes new work. */
ACL_RT_CALL aclrtSynchronizeStream(aclrtStream stream);
/* `timeout`: milliseconds of simulated time, -1: for ever. 507046. */
ACL_RT_CALL aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);
ACL_RT_CALL aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);
/* For the event's last record before this call; without one for nothing. */
ACL_RT_CALL aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
/* What an error does to what is submitted behind it from now on: it runs, which is what streams
   begin with, or is dropped. Either way the next synchronisation says which error it was, and the
   stream takes new work then. */
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U
ACL_RT_CALL aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/* --- Events. One that was never recorded, or was reset since, is not ready: the host's wait for it
   (aclrtSynchronizeEvent) and a time from or to it (aclrtEventElapsedTime) are 107000. A stream's
   wait for it (aclrtStreamWaitEvent) is 0 and waits for nothing. */
/* 207007: there are 65,535 of the process' already. */
ACL_RT_CALL aclrtCreateEvent(aclrtEvent* event);
ACL_RT_CALL aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);
ACL_RT_CALL aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);
ACL_RT_CALL aclrtDestroyEvent(aclrtEvent event);
ACL_RT_CALL aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
ACL_RT_CALL aclrtResetEvent(aclrtEvent event, aclrtStream stream);
ACL_RT_CALL aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);
ACL_RT_CALL aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);
ACL_RT_CALL aclrtSynchronizeEvent(aclrtEvent event);
/* `timeout`: milliseconds of simulated time, -1: for ever. 507047. */
ACL_RT_CALL aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);
/* Between the two records on the card, in steps of a nanosecond of its clock. */
ACL_RT_CALL aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end);

/* --- Callbacks: functions of the program's in a stream's order. `thread`, as pthread_self()
   numbers it, runs those of the streams it has subscribed to, one with each aclrtProcessReport().
   107000: another one has subscribed, or none. */
ACL_RT_CALL aclrtSubscribeReport(uint64_t thread, aclrtStream stream);
ACL_RT_CALL aclrtUnSubscribeReport(uint64_t thread, aclrtStream stream);
/* With ACL_CALLBACK_BLOCK the stream goes on when the function has returned. */
ACL_RT_CALL aclrtLaunchCallback(aclrtCallback call, void* data, aclrtCallbackBlockType type,
                                aclrtStream stream);
/* `timeout`: milliseconds of simulated time, -1: for ever. 107019. */
ACL_RT_CALL aclrtProcessReport(int32_t timeout);

/* --- Memory. 207001: there is not so much. */
/* `size` is rounded up to 32 bytes, and 32 more. Addresses are multiples of 64. Up to 1 MiB with
   ACL_MEM_MALLOC_HUGE_FIRST, and of any size with ..._NORMAL_ONLY, allocations share pages of 2
   MiB. Others have whole pages; if `size` fills them, the 32 bytes more are in a page that all such
   allocations have in common. Where whole pages are used up ..._HUGE_FIRST takes room in shared
   ones. ..._HUGE1G_ONLY: whole GiBs. For other
   cards (..._P2P): whole pages. */
ACL_RT_CALL aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy);
/* `size` is rounded up to 32 bytes. */
ACL_RT_CALL aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy);
ACL_RT_CALL aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy);
/* As aclrtMalloc(), for a module and on a device of which the configuration says which; it may be
   null. ACL_RT_MEM_ATTR_VA_FLAG has no effect for device memory. 100000: a configuration with a
   number of attributes but none, or with an attribute that is none; 107001: the device is not set.
 */
ACL_RT_CALL aclrtMallocWithCfg(void** address, size_t size, aclrtMemMallocPolicy policy,
                               aclrtMallocConfig* config);
ACL_RT_CALL aclrtFree(void* address);
/* Pinned host memory: the cards read and write the program's own pages. An asynchronous copy
   returns at once; it takes the bytes that are there when the card reads them, and the program sees
   what the card has written so far. */
ACL_RT_CALL aclrtMallocHost(void** address, size_t size);
/* 207000: with ACL_RT_MEM_ATTR_VA_FLAG, because kernels reach host memory at another address. */
ACL_RT_CALL aclrtMallocHostWithCfg(void** address, uint64_t size, aclrtMallocConfig* config);
/* Copies that are in flight end as they would have. */
ACL_RT_CALL aclrtFreeHost(void* address);
/* Memory of the program's own becomes pinned memory; `type` is 0 (ACL_HOST_REGISTER_MAPPED).
   `*device_address` is where kernels and copies of the thread's device reach it, over the PCIe link
   (zero copy); copies also take the program's own address. Of other devices:
   aclrtHostGetDevicePointer(). The pages around it are pinned whole. No thread may write there
   during the call. Memory of aclrtMallocHost() may be registered, too. 107000: it cannot be read and
   written, or is registered already. */
ACL_RT_CALL aclrtHostRegister(void* address, uint64_t size, uint32_t type, void** device_address);
/* Its device addresses fault from now on. 107000: not an address that was registered. */
ACL_RT_CALL aclrtHostUnregister(void* address);
ACL_RT_CALL aclrtMemset(void* address, size_t max, int32_t value, size_t count);
ACL_RT_CALL aclrtMemsetAsync(void* address, size_t max, int32_t value, size_t count,
                             aclrtStream stream);
/* Copies of 0 bytes succeed, whatever the pointers. 100000: `max` is less than `count`, or no kind
   of copy. */
ACL_RT_CALL aclrtMemcpy(void* to, size_t max, const void* from, size_t count, aclrtMemcpyKind kind);
/* Of pageable host memory the bytes are taken, or there, when the call returns: it waits until the
   stream has come to the copy, and for its end. ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE takes them at
   once and returns. From host to host: 207000. Between cards the stream's card copies; 107003: the
   stream is of neither. */
ACL_RT_CALL aclrtMemcpyAsync(void* to, size_t max, const void* from, size_t count,
                             aclrtMemcpyKind kind, aclrtStream stream);
/* `height` rows of `width` bytes, `to_pitch` and `from_pitch` apart, which are not less. */
ACL_RT_CALL aclrtMemcpy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                          size_t width, size_t height, aclrtMemcpyKind kind);
ACL_RT_CALL aclrtMemcpy2dAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                               size_t width, size_t height, aclrtMemcpyKind kind,
                               aclrtStream stream);
ACL_RT_CALL aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total);
/* Device and managed memory that the program has on the device, by modules: those with the most
   first, `*count` of at most `room`. 207000: cards of the 950 do not tell. */
ACL_RT_CALL aclrtGetMemUsageInfo(int32_t device, aclrtMemUsageInfo* info, size_t room,
                                 size_t* count);
ACL_RT_CALL aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes);
/* Where the allocation that has the address begins, and its bytes; one of the two may be null.
   107000: no allocation has it. */
ACL_RT_CALL aclrtMemGetAddressRange(void* address, void** begin, size_t* size);

/* --- Address ranges, physical memory and mappings. Sizes are multiples of the granularity. */
ACL_RT_CALL aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* properties,
                                             aclrtMemGranularityOptions option,
                                             size_t* granularity);
/* `alignment`, `wanted` and `flags` are taken and do not change anything. */
ACL_RT_CALL aclrtReserveMemAddress(void** address, size_t size, size_t alignment, void* wanted,
                                   uint64_t flags);
ACL_RT_CALL aclrtReleaseMemAddress(void* address);
ACL_RT_CALL aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                const aclrtPhysicalMemProp* properties, uint64_t flags);
ACL_RT_CALL aclrtFreePhysical(aclrtDrvMemHandle handle);
/* Readable and writable at once. */
ACL_RT_CALL aclrtMapMem(void* address, size_t size, size_t offset, aclrtDrvMemHandle handle,
                        uint64_t flags);
ACL_RT_CALL aclrtUnmapMem(void* address);
ACL_RT_CALL aclrtMemSetAccess(void* address, size_t size, aclrtMemAccessDesc* descriptors,
                              size_t count);
/* A number that another program gives to aclrtMemImportFromShareableHandle(). Whoever knows it may
   have the memory. */
ACL_RT_CALL aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType type,
                                            uint64_t flags, uint64_t* shareable);
ACL_RT_CALL aclrtMemImportFromShareableHandle(uint64_t shareable, int32_t device,
                                              aclrtDrvMemHandle* handle);

/* --- Managed memory: one address for host and cards. The program reads and writes it through its
   pointer, too (docs/managed-memory.md). `flag` is 1, else 207000. */
ACL_RT_CALL aclrtMemAllocManaged(void** address, uint64_t size, uint32_t flag);
ACL_RT_CALL aclrtMemManagedAdvise(const void* address, uint64_t size,
                                  aclrtMemManagedAdviseType advise,
                                  aclrtMemManagedLocation location);
ACL_RT_CALL aclrtMemManagedPrefetchAsync(const void* address, size_t size,
                                         aclrtMemManagedLocation location, uint32_t flags,
                                         aclrtStream stream);
ACL_RT_CALL aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* address,
                                   size_t size, void* data, size_t data_size);

/* --- Kernels. A binary is a file of `npusim cc` (docs/ascendc.md), a shared object of docs/guide,
   or NPUSIM_BUILT_IN (npusim_kernels.h).
   100000: it cannot be read; 107000: it is no kernel. */
ACL_RT_CALL aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* options,
                                    aclrtBinHandle* binary);
/* The same bytes in the program's memory, which may be given back. 107000: they are no kernel. */
ACL_RT_CALL aclrtBinaryLoadFromData(const void* data, size_t size,
                                    const aclrtBinaryLoadOptions* options, aclrtBinHandle* binary);
ACL_RT_CALL aclrtBinaryUnLoad(aclrtBinHandle binary);
/* The name of the kernel in the binary; of a binary without names any will do. */
ACL_RT_CALL aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
                                   aclrtFuncHandle* function);
/* `blocks` of 1 .. 65535 in the order of the stream. `args` are copied. Those in memory of the
   stream's device, aligned to 64, are not: the kernel reads them when it runs. Others in device
   memory, and those of npusim's own kernels, are copied after the stream's earlier work has ended,
   which the call waits for. */
ACL_RT_CALL aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void* args,
                              size_t size, aclrtStream stream);
ACL_RT_CALL aclrtLaunchKernelV2(aclrtFuncHandle function, uint32_t blocks, const void* args,
                                size_t size, aclrtLaunchKernelCfg* config, aclrtStream stream);
ACL_RT_CALL aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks,
                                        aclrtStream stream, aclrtLaunchKernelCfg* config,
                                        aclrtArgsHandle args, void* reserved);
/* What lies at `dataOffset` of `args` is reached through the address written to `addrOffset`. */
ACL_RT_CALL aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                          aclrtStream stream, aclrtLaunchKernelCfg* config,
                                          void* args, size_t size, aclrtPlaceHolderInfo* places,
                                          size_t count);
ACL_RT_CALL aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* args);
ACL_RT_CALL aclrtKernelArgsAppend(aclrtArgsHandle args, void* parameter, size_t size,
                                  aclrtParamHandle* handle);
ACL_RT_CALL aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle args, aclrtParamHandle* handle);
ACL_RT_CALL aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle args, aclrtParamHandle handle,
                                                size_t size, void** buffer);
/* The arguments may be launched, any number of times. Of what may be changed now, see acl_rt_kernel.h. */
ACL_RT_CALL aclrtKernelArgsFinalize(aclrtArgsHandle args);

/* See acl_rt_more.h. */
ACL_RT_CALL aclrtSetOpExecuteTimeOut(uint32_t seconds);

#undef ACL_RT_CALL

#ifdef __cplusplus
}
#endif
#endif
