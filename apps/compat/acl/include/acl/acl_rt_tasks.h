/* SPDX-License-Identifier: Apache-2.0 */
/* Work that needs no kernel of the program's. As in acl_rt.h a null pointer is 100000. */
#ifndef NPUSIM_ACL_RT_TASKS_H
#define NPUSIM_ACL_RT_TASKS_H

#include <acl/acl_base.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13
} aclrtReduceKind;
/* `to` = `to` op `from`, of `count` bytes of one device's memory, by a copy engine. Types are
   ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT16 and ACL_INT32; 207000: others,
   ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, and memory of two devices. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void* to, const void* from, uint64_t count,
                                              aclrtReduceKind kind, aclDataType type,
                                              aclrtStream stream, void* reserve);
/* `count` words of 4 bytes; `size`: of the memory, in bytes. 107000: an address in device memory
   that is no multiple of 4. */
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32(void* address, size_t size, uint32_t value,
                                            size_t count);
ACL_FUNC_VISIBILITY aclError aclrtMemsetD32Async(void* address, size_t size, uint32_t value,
                                                 size_t count, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
