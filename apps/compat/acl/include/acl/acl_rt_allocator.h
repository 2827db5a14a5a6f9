/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own allocators, kept by streams for whoever asks (aclrtAllocatorGetByStream()).
   npusim itself allocates nothing by them. 100000: null. */
#ifndef NPUSIM_ACL_RT_ALLOCATOR_H
#define NPUSIM_ACL_RT_ALLOCATOR_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* (*aclrtAllocatorAllocFunc)(aclrtAllocator allocator, size_t size);
typedef void (*aclrtAllocatorFreeFunc)(aclrtAllocator allocator, aclrtAllocatorBlock block);
typedef void* (*aclrtAllocatorAllocAdviseFunc)(aclrtAllocator allocator, size_t size,
                                               aclrtAllocatorAddr address);
typedef void* (*aclrtAllocatorGetAddrFromBlockFunc)(aclrtAllocatorBlock block);

ACL_FUNC_VISIBILITY aclrtAllocatorDesc aclrtAllocatorCreateDesc(void);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc description);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc description,
                                                        aclrtAllocator allocator);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc description,
                                                              aclrtAllocatorAllocFunc call);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc description,
                                                             aclrtAllocatorFreeFunc call);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetAllocAdviseFuncToDesc(
    aclrtAllocatorDesc description, aclrtAllocatorAllocAdviseFunc call);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    aclrtAllocatorDesc description, aclrtAllocatorGetAddrFromBlockFunc call);
/* The stream keeps what the description says now. 100000: a function but that for advice is null.
 */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorRegister(aclrtStream stream,
                                                    aclrtAllocatorDesc description);
/* 100000: the stream has none. */
ACL_FUNC_VISIBILITY aclError aclrtAllocatorGetByStream(
    aclrtStream stream, aclrtAllocatorDesc* description, aclrtAllocator* allocator,
    aclrtAllocatorAllocFunc* allocate, aclrtAllocatorFreeFunc* release,
    aclrtAllocatorAllocAdviseFunc* advise, aclrtAllocatorGetAddrFromBlockFunc* address_of);
ACL_FUNC_VISIBILITY aclError aclrtAllocatorUnregister(aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
