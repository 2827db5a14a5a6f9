/* SPDX-License-Identifier: Apache-2.0 */
/* What streams wait for and what the program is told of them: notifies, values in device memory,
   functions of the program, faults; and what programs share by keys. As in acl_rt.h a null pointer
   is 100000, a handle that is none 107017. */
#ifndef NPUSIM_ACL_RT_SYNC_H
#define NPUSIM_ACL_RT_SYNC_H

#include <acl/acl_base.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Notifies: a flag on the card. A record sets it; a wait holds its stream until it is set, and
   takes it back. 207009: all in use. */
#define ACL_NOTIFY_DEFAULT 0x0u
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x1u
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);
/* `timeout`: seconds of simulated time, 0: for ever. After it the stream goes on, in either failure
   mode, and its next aclrtSynchronizeStream() or aclrtStreamQuery() says 107020. */
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                                     uint32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* id);
/* Takes records back, at once. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t count);

/* --- Notifies of several programs: 8 bytes of device memory of who has exported it, which cards
   write by themselves. Keys and processes as below of memory. Such a notify is in no model, and a
   wait for it that takes too long stops the stream with a fault. */
#define ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT 0x0ul
#define ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x2ul
#define ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT 0x0ul
#define ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x2ul
/* 107000: it is shared already; 207000: a stream has used it before. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t length,
                                                     uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pids,
                                                     size_t count);
/* On the thread's device. On another card than the exporter's it may be recorded; a wait for it is
   207000. 107000: no such key, or the program was not named. */
ACL_FUNC_VISIBILITY aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key,
                                                    uint64_t flags);

/* --- Values of 8 bytes in device memory, aligned to 8; else 107000. `flag` of a write is 0. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x0u /* as a signed difference */
#define ACL_STREAM_WAIT_VALUE_EQ 0x1u
#define ACL_STREAM_WAIT_VALUE_AND 0x2u /* a bit is in both */
#define ACL_STREAM_WAIT_VALUE_NOR 0x3u /* a bit is in neither */
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void* address, uint64_t value, uint32_t flag,
                                             aclrtStream stream);
/* The runtime reads the value again and again, and lets the stream go on: at most 100 us of
   simulated time later. */
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void* address, uint64_t value, uint32_t flag,
                                            aclrtStream stream);

/* --- Functions of the program in a stream's order, which waits for them. A thread of the library
   runs those of streams that no thread has subscribed to. Subscriptions and calls as those of
   aclrtSubscribeReport() and aclrtProcessReport(). */
typedef void (*aclrtHostFunc)(void* data);
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc call,
                                                 void* data);
ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t thread, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t thread, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/* --- Faults: the function is called by the thread that is told of the fault, in the call that
   tells it (aclrtSynchronizeStream() and its like). Null: none from then on. */
typedef struct rtExceptionInfo aclrtExceptionInfo;
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback call);
/* 0xFFFFFFFF: null. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);
/* 207000: nothing keeps them. */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info,
                                                           void** args, uint32_t* size);
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info,
                                                                 aclrtFuncHandle* function);

/* --- Streams and devices that come and go: functions under a name, called by the thread that
   creates, destroys, sets or resets. A null function takes the name back; 100000: there is none. */
typedef enum {
  ACL_RT_STREAM_STATE_CREATE_POST = 1,
  ACL_RT_STREAM_STATE_DESTROY_PRE = 2
} aclrtStreamState;
typedef void (*aclrtStreamStateCallback)(aclrtStream stream, aclrtStreamState state, void* data);
ACL_FUNC_VISIBILITY aclError aclrtRegStreamStateCallback(const char* name,
                                                         aclrtStreamStateCallback call, void* data);
typedef enum {
  ACL_RT_DEVICE_STATE_SET_PRE = 0,
  ACL_RT_DEVICE_STATE_SET_POST = 1,
  ACL_RT_DEVICE_STATE_RESET_PRE = 2,
  ACL_RT_DEVICE_STATE_RESET_POST = 3
} aclrtDeviceState;
typedef void (*aclrtDeviceStateCallback)(int32_t device, aclrtDeviceState state, void* data);
ACL_FUNC_VISIBILITY aclError aclrtRegDeviceStateCallback(const char* name,
                                                         aclrtDeviceStateCallback call, void* data);
/* What runs in the stream and what waits there is given up; it takes new work. */
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);
/* Of a stream with ACL_STREAM_DEVICE_USE_ONLY; 207000: another. What runs there is stopped, and
   given up with what waits behind it: the next wait for the stream says 507000. It takes new work.
 */
ACL_FUNC_VISIBILITY aclError aclrtStreamStop(aclrtStream stream);

/* --- What programs share. Keys have at most 64 characters and a zero, so `length` is at least 65.
   Whoever is named as a process may have it, with the flag to disable validation everybody. */
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0ul
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1ul
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0ul
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1ul
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0ul
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1ul
/* An allocation or a mapping of aclrtMapMem(), from its beginning. 107000: it is none, or has fewer
   bytes. Kernels of who imports it reach all of its pages of 2 MiB, which small allocations of the
   program share; copies and fills do not. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* address, size_t size, char* key,
                                                     size_t length, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pids, size_t count);
/* On the thread's device. 107000: no such key, or the program was not named. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** address, const char* key,
                                                    uint64_t flags);
/* By who has exported: nobody may import it any more; by who has imported: it is not reached any
   more. 107000: neither. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);
/* The process' id. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);
/* From then on only these may import what the number says. */
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareable, int32_t* pids,
                                                             size_t count);
/* The same with a number of 8 bytes or a structure of 128, by `type`. The import is on the thread's
   device. */
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle,
                                                               uint64_t flags,
                                                               aclrtMemSharedHandleType type,
                                                               void* shareable);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void* shareable,
                                                                 aclrtMemSharedHandleType type,
                                                                 uint64_t flags,
                                                                 aclrtDrvMemHandle* handle);
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandleV2(void* shareable,
                                                               aclrtMemSharedHandleType type,
                                                               int32_t* pids, size_t count);
/* An event with ACL_EVENT_IPC. Records of all programs that have it are of one event. A stream's
   wait for another program's record that has not ended holds the call until it has. */
#define ACL_IPC_EVENT_HANDLE_SIZE 64u
typedef struct aclrtIpcEventHandle {
  char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;
/* 107000: the event has not the flag. */
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);
/* 107000: there is no such event. */
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

/* --- Host memory of the program's that cards reach, as by aclrtHostRegister(). */
#define ACL_HOST_REG_MAPPED 0x2ul
#define ACL_HOST_REG_IOMEMORY 0x4ul
#define ACL_HOST_REG_READONLY 0x8ul
#define ACL_HOST_REG_PINNED 0x10000000ul
/* 207000: other flags than mapped and pinned. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void* address, uint64_t size, uint32_t flags);
/* Where kernels and copies of the thread's device reach it, over the PCIe link. Also for memory of
   aclrtMallocHost(). `flags` is 0. 107000: it is not registered. */
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* host, void** device, uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
