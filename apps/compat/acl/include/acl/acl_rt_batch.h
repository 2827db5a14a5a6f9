/* SPDX-License-Identifier: Apache-2.0 */
/* Many copies by one call, and what gives memory back when the device has ended its work. Errors
   that acl_rt.h says of all functions hold here, too. */
#ifndef NPUSIM_ACL_RT_BATCH_H
#define NPUSIM_ACL_RT_BATCH_H

#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the copies of a range are from and to: one of the two is the host, the other the device. */
typedef struct {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

/* `count` copies of `sizes[i]` bytes, at most `room[i]`, one after another. attributes[k] is for
   copies from indexes[k], which is 0 for the first, up to indexes[k + 1]. `*failed`: the first copy
   whose places are not what its attribute says; SIZE_MAX: none. 100000: no copies, no attributes,
   indexes that do not grow, or more bytes than there is room; 107000: memory is elsewhere than its
   attribute says; 207000: not between the host and a device. */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void** to, size_t* room, void** from, size_t* sizes,
                                              size_t count, aclrtMemcpyBatchAttr* attributes,
                                              size_t* indexes, size_t attribute_count,
                                              size_t* failed);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchV2(void** to, size_t* room, void** from, size_t* sizes,
                                                size_t count, aclrtMemcpyBatchAttr* attributes,
                                                size_t* indexes, size_t attribute_count);
/* In the stream's order; each as aclrtMemcpyAsync(). */
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void** to, size_t* room, void** from,
                                                   size_t* sizes, size_t count,
                                                   aclrtMemcpyBatchAttr* attributes,
                                                   size_t* indexes, size_t attribute_count,
                                                   size_t* failed, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsyncV2(void** to, size_t* room, void** from,
                                                     size_t* sizes, size_t count,
                                                     aclrtMemcpyBatchAttr* attributes,
                                                     size_t* indexes, size_t attribute_count,
                                                     aclrtStream stream);

/* As aclrtFree() and aclrtFreeHost(), behind aclrtSynchronizeDevice(), whose error is told and the
   memory given back all the same. */
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void* address);
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void* address);

/* Whether all of the addresses are of one of the types. Device memory is ACL_RT_MEM_TYPE_DEV,
   however its addresses were reserved. 100000: no type; `reserved` is not 0. */
#define ACL_RT_MEM_TYPE_DEV 0x2U
#define ACL_RT_MEM_TYPE_DVPP 0x8U
#define ACL_RT_MEM_TYPE_RSVD 0x10U
ACL_FUNC_VISIBILITY aclError aclrtCheckMemType(void** addresses, uint32_t count, uint32_t types,
                                               uint32_t* matches, uint32_t reserved);

#ifdef __cplusplus
}
#endif
#endif
