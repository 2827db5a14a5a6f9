/* SPDX-License-Identifier: Apache-2.0 */
/* Which device is which; what a binary has; limits of waits; copies whose addresses are in device memory. Errors that
   acl_rt.h says of all functions hold here, too. */
#ifndef NPUSIM_ACL_RT_MORE_H
#define NPUSIM_ACL_RT_MORE_H

#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Devices. The program's number of a device, the logical one, and the physical one, which are
   both the machine's: they differ by ASCEND_RT_VISIBLE_DEVICES. 107001: the program has none of
   that number. */
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(const int32_t user,
                                                           int32_t* const logic);
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByLogicDevId(const int32_t logic,
                                                           int32_t* const user);
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByUserDevId(const int32_t user,
                                                         int32_t* const physical);
ACL_FUNC_VISIBILITY aclError aclrtGetUserDevIdByPhyDevId(const int32_t physical,
                                                         int32_t* const user);
/* Older names of the last two. */
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(const int32_t user,
                                                          int32_t* const physical);
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByPhyDevId(const int32_t physical,
                                                          int32_t* const user);
/* "0000:01:00.0": the card's function on the modelled bus. 107000: `length` is less than 13, or no
   such function is one of the program's. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetPCIBusId(int32_t device, char* text, int32_t length);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetByPCIBusId(const char* text, int32_t* device);
typedef struct {
  char bytes[16];
} aclrtUuid;
/* Made of the card's place on the bus (RFC 9562, version 8): cards of a machine differ. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t device, aclrtUuid* uuid);

typedef enum {
  ACL_RT_ATOMIC_OPERATION_INTEGER_ADD = 0,
  ACL_RT_ATOMIC_OPERATION_INTEGER_MIN = 1,
  ACL_RT_ATOMIC_OPERATION_INTEGER_MAX = 2,
  ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
  ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
  ACL_RT_ATOMIC_OPERATION_AND = 5,
  ACL_RT_ATOMIC_OPERATION_OR = 6,
  ACL_RT_ATOMIC_OPERATION_XOR = 7,
  ACL_RT_ATOMIC_OPERATION_EXCHANGE = 8,
  ACL_RT_ATOMIC_OPERATION_CAS = 9,
  ACL_RT_ATOMIC_OPERATION_FLOAT_ADD = 10,
  ACL_RT_ATOMIC_OPERATION_FLOAT_MIN = 11,
  ACL_RT_ATOMIC_OPERATION_FLOAT_MAX = 12,
  ACL_RT_ATOMIC_OPERATION_DMA_ADD = 30,
  ACL_RT_ATOMIC_OPERATION_DMA_MIN = 31,
  ACL_RT_ATOMIC_OPERATION_DMA_MAX = 32,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD = 40,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN = 41,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX = 42,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS = 43,
  ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH = 44
} aclrtAtomicOperation;
typedef enum {
  ACL_RT_ATOMIC_CAPABILITY_SIGNED = 1,
  ACL_RT_ATOMIC_CAPABILITY_UNSIGNED = 2,
  ACL_RT_ATOMIC_CAPABILITY_REDUCTION = 4,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR8 = 8,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR16 = 16,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR32 = 32,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR64 = 64,
  ACL_RT_ATOMIC_CAPABILITY_SCALAR128 = 128
} aclrtAtomicOperationCapability;
/* 0 for each of the operations: there are no atomic accesses to the host's memory or another card's. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetHostAtomicCapabilities(
    uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
    int32_t device);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetP2PAtomicCapabilities(
    uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
    int32_t from, int32_t to);

/* --- What a binary has. 207000: it is npusim's own. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunctionCount(aclrtBinHandle binary, uint32_t* count);
/* The first `count` of them. 107000: there are fewer. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryEnumerateFunctions(aclrtBinHandle binary,
                                                           aclrtFuncHandle* functions,
                                                           uint32_t count);
/* 107000: the name and its zero have more than `length` bytes. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionName(aclrtFuncHandle function, uint32_t length,
                                                  char* name);
/* On the thread's device, for cube and for vector cores; null: it is not for these. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle function, void** cube,
                                                  void** vector);
/* Bytes of its object; 0: it is not for these cores. */
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionSize(aclrtFuncHandle function, size_t* cube,
                                                  size_t* vector);
ACL_FUNC_VISIBILITY aclError aclrtFunctionGetBinary(aclrtFuncHandle function,
                                                    aclrtBinHandle* binary);
/* Bytes that a binary is to be loaded from, which are the program's. Null: none. */
typedef void* aclrtBinary;
ACL_FUNC_VISIBILITY aclrtBinary aclrtCreateBinary(const void* data, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtDestroyBinary(aclrtBinary binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* loaded);

/* --- Limits of waits, in simulated time. A stream's wait for an event that takes longer ends, and
   so the stream goes on in either failure mode; its next aclrtSynchronizeStream() or
   aclrtStreamQuery() says 107020. 100000: not more than 0. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                             int32_t milliseconds);
/* Of each later aclrtStreamWaitEvent(); 0: none. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t seconds);
/* As aclrtSynchronizeDevice(); -1: for ever. 507046: not within so many milliseconds. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds);
typedef enum {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 0xFFFF
} aclrtEventWaitStatus;
/* Whether streams have ended their waits for the event; complete if there were none. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
                                                       aclrtEventWaitStatus* status);
/* How many more streams the context's device can have, at most: a stream with kernels of vector and
   of cube cores takes two places. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t* count);

/* Between the two, launches in the stream return at once, whatever its mode is; sections may be in
   one another. The last end waits if launches do then. Null: the context's own stream. 107000: an end
   without a begin, and a flag that is not 0. */
ACL_FUNC_VISIBILITY aclError aclrtNonBlockingLaunchBegin(aclrtStream stream, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtNonBlockingLaunchEnd(aclrtStream stream, uint32_t flag);

/* --- How long a block of a kernel on an AI Core may run, if it is launched behind the call: a multiple
   of the interval (2^32 ns, assumed), rounded up, at most 254 of them, which 0 is, too, and what holds
   without a call. A longer one is ended; the stream's next wait says 507014. */
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t milliseconds);
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t microseconds, uint64_t* actual);
ACL_FUNC_VISIBILITY aclError aclrtGetOpTimeOutInterval(uint64_t* microseconds);
ACL_FUNC_VISIBILITY aclError aclrtGetOpExecuteTimeout(uint32_t* milliseconds);
typedef enum {
  ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
  ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
  ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,
  ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3,
  ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4
} aclrtDeviceLimit;
/* Of the stack of kernels (SIMD_STACK_SIZE) alone: 1 to 196608 bytes, all of which every kernel has.
   107000: more. 207000: another limit. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value);
/* --- What a stream brings to the L2 of its device when it comes to it, by a DMA engine.
   207000: another type than ACL_RT_CMO_TYPE_PREFETCH. 107000: memory of no device. 107003: of
   another one than the stream's. */
typedef enum {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3
} aclrtCmoType;
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void* address, size_t size, aclrtCmoType type,
                                           aclrtStream stream);
/* The same of what a description in device memory says, of that many bytes. 107000: it is not aligned
   to 8. It is read at the call. `reserved` is null. */
ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t* size);
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void* description, void* address, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void* description, aclrtCmoType type,
                                                   aclrtStream stream, const void* reserved);

/* --- Copies on one device whose addresses are read when the stream comes to the copy: at most
   100 us of simulated time later, by the runtime. What fails then is 507000 of the stream's next
   wait. 207000: other kinds than between places of one device, and captured streams. */
/* The bytes from `*source + source_offset`, an address in device memory, to `*to + to_offset`.
   100000: `count` is more than `room`. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithOffset(void** to, size_t room, size_t to_offset,
                                                        const void** source, size_t count,
                                                        size_t source_offset, aclrtMemcpyKind kind,
                                                        aclrtStream stream);
/* A description in device memory, of that many bytes, aligned to 8. `config` is null. */
ACL_FUNC_VISIBILITY aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* size);
ACL_FUNC_VISIBILITY aclError aclrtSetMemcpyDesc(void* description, aclrtMemcpyKind kind,
                                                void* source, void* to, size_t count, void* config);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithDesc(void* description, aclrtMemcpyKind kind,
                                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
