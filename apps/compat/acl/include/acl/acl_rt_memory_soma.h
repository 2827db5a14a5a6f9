/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in a stream's order: a pool keeps what a stream frees, and gives it to what the stream
   allocates next without waiting. Errors that acl_rt.h says of all functions hold here, too. */
#ifndef NPUSIM_ACL_RT_MEMORY_SOMA_H
#define NPUSIM_ACL_RT_MEMORY_SOMA_H

#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtMemPool;
/* The first three: unsigned int, 1 or 0, at first 1; what they allow is said below. The others:
   uint64_t, bytes. */
typedef enum {
  /* Memory of another stream whose free the stream has waited for by an event: kept, not used. */
  ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
  ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2, /* of another stream that has come to its free */
  ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /* the stream waits for another's free */
  ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4, /* that waits for streams leave in the pool; at first 0 */
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
  ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6, /* to be set to 0 */
  ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
  ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8 /* to be set to 0 */
} aclrtMemPoolAttr;
typedef struct {
  aclrtMemAllocationType allocType;
  aclrtMemHandleType handleType;
  aclrtMemLocation location; /* a device */
  size_t maxSize;            /* bytes that it may reserve; 0: as many as there are */
  unsigned char reserved[32];
} aclrtMemPoolProps;

/* It ends with the last aclrtResetDevice() of its device. 100000: no device, or bytes of `reserved` that are not 0. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolCreate(aclrtMemPool* pool, const aclrtMemPoolProps* props);
/* Waits for what uses its memory, and gives all of it back. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolDestroy(const aclrtMemPool pool);
/* 107000: the attribute is not to be set, or not to that. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolSetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute,
                                                 void* value);
ACL_FUNC_VISIBILITY aclError aclrtMemPoolGetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute,
                                                 void* value);
/* 207001: the pool may not reserve so much more, or the card has not so much. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolMallocAsync(void** address, size_t size, aclrtMemPool pool,
                                                     aclrtStream stream);
/* 107000: it is no memory of a pool's. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolFreeAsync(void* address, aclrtStream stream);
/* What is free beyond `keep` bytes is given back. */
ACL_FUNC_VISIBILITY aclError aclrtMemPoolTrimTo(aclrtMemPool pool, size_t keep);

#ifdef __cplusplus
}
#endif
#endif
