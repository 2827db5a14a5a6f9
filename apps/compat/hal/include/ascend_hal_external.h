/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the HAL (docs/sources/virtualisation.md S9): memory in small pieces, and messages made
   of it. Functions return a drvError_t. Included by ascend_hal.h. */
#ifndef NPUSIM_ASCEND_HAL_EXTERNAL_H
#define NPUSIM_ASCEND_HAL_EXTERNAL_H

#include <ascend_hal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BUFF_SP_NORMAL 0
#define BUFF_SP_HUGEPAGE_PRIOR (1 << 0)
#define BUFF_SP_HUGEPAGE_ONLY (1 << 1)
#define BUFF_SP_DVPP (1 << 2)
#define BUFF_SP_SVM (1 << 3)
#define BUFF_FLAGS_DEVID_OFFSET 32 /* .. 35: device */

#define BUFF_MAX_CFG_NUM 64
typedef struct {
  unsigned int cfg_id, total_size, blk_size, max_buf_size, page_type;
  int elasticEnable, elasticRate, elasticRateMax, elasticHighLevel, elasticLowLevel;
} memZoneCfg;
typedef struct {
  memZoneCfg cfg[BUFF_MAX_CFG_NUM];
} BuffCfg;
/* Buffers need it no more than they need the configuration, which may be null and is not looked at.
   REPEATED_INIT: it was called before. */
NPU_HAL int halBuffInit(BuffCfg* config);

/* Pinned host memory, of which the address is an ordinary pointer and which copies of the device
   reach; from zones of 2 MiB, which are given back with their last buffer. `align` is a power of
   two of at most 2 MiB, 0: 64 bytes. OUT_OF_MEMORY, INVALID_DEVICE: no device is open, or not the
   one that the flag names. */
NPU_HAL int halBuffAlloc(uint64_t size, void** buffer);
NPU_HAL int halBuffAllocAlign(uint64_t size, unsigned int align, void** buffer);
/* With BUFF_SP_SVM zones are of MEM_SVM instead: the address is the host's and the card's, and
   kernels reach it. Pages are of any size; groups are not looked at. NOT_SUPPORT: BUFF_SP_DVPP. */
NPU_HAL int halBuffAllocEx(uint64_t size, unsigned long flag, int group, void** buffer);
NPU_HAL int halBuffAllocAlignEx(uint64_t size, unsigned int align, unsigned long flag, int group,
                                void** buffer);
/* INVALID_VALUE: no buffer begins there, or a message has it. */
NPU_HAL int halBuffFree(void* buffer);

/* A message: a buffer, how much of it is data, and 256 bytes beside it. INVALID_VALUE: it is none.
 */
typedef struct Mbuf Mbuf;
NPU_HAL int halMbufAlloc(uint64_t size, Mbuf** message);
NPU_HAL int halMbufAllocEx(uint64_t size, unsigned int align, unsigned long flag, int group,
                           Mbuf** message);
/* With all that are appended to it; the buffer when the last message of it ends. INVALID_VALUE: it
   is appended to another one. */
NPU_HAL int halMbufFree(Mbuf* message);
/* Another message of the same buffer. */
NPU_HAL int halMbufCopyRef(Mbuf* message, Mbuf** copy);
/* A message of a buffer, which it has from now on; and the other way. INVALID_VALUE: others are of
   the buffer, too, or appended. */
NPU_HAL int halMbufBuild(void* buffer, uint64_t length, Mbuf** message);
NPU_HAL int halMbufUnBuild(Mbuf* message, void** buffer, uint64_t* length);
NPU_HAL int halMbufGetBuffAddr(Mbuf* message, void** buffer);
NPU_HAL int halMbufGetBuffSize(Mbuf* message, uint64_t* size);
/* INVALID_VALUE: more than the buffer has. At first 0. */
NPU_HAL int halMbufSetDataLen(Mbuf* message, uint64_t length);
NPU_HAL int halMbufGetDataLen(Mbuf* message, uint64_t* length);
NPU_HAL int halMbufGetPrivInfo(Mbuf* message, void** bytes, unsigned int* size);
/* INVALID_VALUE: one of them is appended already, or has some itself. */
NPU_HAL int halMbufChainAppend(Mbuf* head, Mbuf* message);
/* The head is the first, 0. */
NPU_HAL int halMbufChainGetMbufNum(Mbuf* head, unsigned int* count);
NPU_HAL int halMbufChainGetMbuf(Mbuf* head, unsigned int index, Mbuf** message);

#ifdef __cplusplus
}
#endif
#endif
