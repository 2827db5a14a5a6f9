/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of a program's (docs/sources/acl.md L10). What is in a queue is in the memory of the
   thread's device. A null pointer is 100000, a number that is no queue's 107000. */
#ifndef NPUSIM_ACL_TDT_QUEUE_H
#define NPUSIM_ACL_TDT_QUEUE_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_TDT_QUEUE_PERMISSION_MANAGE 1
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 2
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 4

#define ACL_TDT_QUEUE_ROUTE_UNBIND 0
#define ACL_TDT_QUEUE_ROUTE_BIND 1
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2

typedef void* acltdtBuf;
typedef struct tagMemQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;
typedef struct acltdtQueueRoute acltdtQueueRoute;

typedef enum { ACL_TDT_QUEUE_NAME_PTR = 0, ACL_TDT_QUEUE_DEPTH_UINT32 } acltdtQueueAttrType;
typedef enum {
  ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
  ACL_TDT_QUEUE_ROUTE_DST_UINT32,
  ACL_TDT_QUEUE_ROUTE_STATUS_INT32
} acltdtQueueRouteParamType;
typedef enum {
  ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
  ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
  ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
  ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100
} acltdtQueueRouteQueryMode;
typedef enum {
  ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
  ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32,
  ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32
} acltdtQueueRouteQueryInfoParamType;
typedef enum { ACL_TDT_NORMAL_MEM = 0, ACL_TDT_DVPP_MEM } acltdtAllocBufType;

/* --- What a queue is to be: a name of at most 127 characters (default: one of its own), a depth of
   2 .. 8192 (default 2). A name is set by a pointer to it (`length`: of the pointer), or, of any
   other length, by its characters. 100000: another length or value. */
ACL_FUNC_VISIBILITY acltdtQueueAttr* acltdtCreateQueueAttr(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr);
ACL_FUNC_VISIBILITY aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type,
                                                size_t length, const void* value);
/* The same way; the pointer is good until the attributes change or go. */
ACL_FUNC_VISIBILITY aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr,
                                                acltdtQueueAttrType type, size_t length,
                                                size_t* written, void* value);

/* --- Queues. 107002: no device is set; 107000: the name is in use. */
ACL_FUNC_VISIBILITY aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* queue);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueue(uint32_t queue);
/* `timeout`: milliseconds of simulated time, -1: for ever. `user_size` is at most 96, and
   `reserved` 0. 207014: the queue is full still. */
ACL_FUNC_VISIBILITY aclError acltdtEnqueueData(uint32_t queue, const void* data, size_t size,
                                               const void* user, size_t user_size, int32_t timeout,
                                               uint32_t reserved);
/* 207013: the queue is empty still. 100000: there is more than `size`; it stays. */
ACL_FUNC_VISIBILITY aclError acltdtDequeueData(uint32_t queue, void* data, size_t size,
                                               size_t* taken, void* user, size_t user_size,
                                               int32_t timeout);
/* 207000: another process than the program itself. */
ACL_FUNC_VISIBILITY aclError acltdtGrantQueue(uint32_t queue, int32_t process, uint32_t permission,
                                              int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtAttachQueue(uint32_t queue, int32_t timeout,
                                               uint32_t* permission);

/* --- Routes: what is in the source goes to the destination, when one of them is used. 107000: no
   such queues, or bound already; not bound. */
ACL_FUNC_VISIBILITY acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t source, uint32_t destination);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route);
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route,
                                                      acltdtQueueRouteParamType type, size_t length,
                                                      size_t* written, void* value);
ACL_FUNC_VISIBILITY acltdtQueueRouteList* acltdtCreateQueueRouteList(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* list);
ACL_FUNC_VISIBILITY aclError acltdtAddQueueRoute(acltdtQueueRouteList* list,
                                                 const acltdtQueueRoute* route);
ACL_FUNC_VISIBILITY aclError acltdtGetQueueRoute(const acltdtQueueRouteList* list, size_t index,
                                                 acltdtQueueRoute* route);
ACL_FUNC_VISIBILITY size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* list);
ACL_FUNC_VISIBILITY aclError acltdtBindQueueRoutes(acltdtQueueRouteList* list);
ACL_FUNC_VISIBILITY aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* list);
ACL_FUNC_VISIBILITY acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void);
ACL_FUNC_VISIBILITY aclError
acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info);
ACL_FUNC_VISIBILITY aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* info,
                                                          acltdtQueueRouteQueryInfoParamType type,
                                                          size_t length, const void* value);
/* Adds what is bound and as the question has it to the list. */
ACL_FUNC_VISIBILITY aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* info,
                                                    acltdtQueueRouteList* list);

/* --- Buffers: not on cards of these kinds. 200006. */
ACL_FUNC_VISIBILITY aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buffer);
ACL_FUNC_VISIBILITY aclError acltdtFreeBuf(acltdtBuf buffer);
ACL_FUNC_VISIBILITY aclError acltdtGetBufData(const acltdtBuf buffer, void** data, size_t* size);
ACL_FUNC_VISIBILITY aclError acltdtSetBufDataLen(acltdtBuf buffer, size_t length);
ACL_FUNC_VISIBILITY aclError acltdtGetBufDataLen(acltdtBuf buffer, size_t* length);
ACL_FUNC_VISIBILITY aclError acltdtAppendBufChain(acltdtBuf head, acltdtBuf buffer);
ACL_FUNC_VISIBILITY aclError acltdtGetBufChainNum(acltdtBuf head, uint32_t* count);
ACL_FUNC_VISIBILITY aclError acltdtGetBufFromChain(acltdtBuf head, uint32_t index,
                                                   acltdtBuf* buffer);
ACL_FUNC_VISIBILITY aclError acltdtGetBufUserData(const acltdtBuf buffer, void* data, size_t size,
                                                  size_t offset);
ACL_FUNC_VISIBILITY aclError acltdtSetBufUserData(acltdtBuf buffer, const void* data, size_t size,
                                                  size_t offset);
ACL_FUNC_VISIBILITY aclError acltdtCopyBufRef(const acltdtBuf buffer, acltdtBuf* copy);
ACL_FUNC_VISIBILITY aclError acltdtEnqueue(uint32_t queue, acltdtBuf buffer, int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtDequeue(uint32_t queue, acltdtBuf* buffer, int32_t timeout);

#ifdef __cplusplus
}
#endif
#endif
