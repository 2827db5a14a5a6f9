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

/* --- Random numbers. The card's own generator is not modelled: a kernel on vector cores makes
   them, by Philox 4x32-10 (a generator without a state). Number i depends on the seed, the counter
   and i alone. A group of four numbers (of 8 bytes: two) is of counter + its own number. The
   counter stays as it is. */
typedef struct {
  uint8_t isAddr; /* not 0: the value is in device memory */
  uint8_t valueOrAddr[8];
  uint8_t size; /* of the value */
  uint8_t rsv[6];
} aclrtRandomParaInfo;
typedef struct {
  aclrtRandomParaInfo dropoutRation;
} aclrtDropoutBitmaskInfo;
typedef struct {
  aclrtRandomParaInfo min;
  aclrtRandomParaInfo max;
} aclrtUniformDisInfo;
typedef struct {
  aclrtRandomParaInfo mean;
  aclrtRandomParaInfo stddev;
} aclrtNormalDisInfo;
typedef enum {
  ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK = 0, /* bits, 0 with this probability; ACL_FLOAT */
  ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS,         /* min <= x < max */
  ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS,
  ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS /* within two standard deviations */
} aclrtRandomNumFuncType;
typedef struct {
  aclrtRandomNumFuncType funcType;
  union {
    aclrtDropoutBitmaskInfo dropoutBitmaskInfo;
    aclrtUniformDisInfo uniformDisInfo;
    aclrtNormalDisInfo normalDisInfo;
  } paramInfo;
} aclrtRandomNumFuncParaInfo;
typedef struct {
  aclDataType dataType; /* ACL_FLOAT, ACL_FLOAT16, ACL_BF16; uniform also 32 and 64 bit integers */
  aclrtRandomNumFuncParaInfo randomNumFuncParaInfo;
  void* randomParaAddr;    /* null */
  void* randomResultAddr;  /* device memory */
  void* randomCounterAddr; /* 16 bytes of device memory, aligned to 8 */
  aclrtRandomParaInfo randomSeed;
  aclrtRandomParaInfo randomNum; /* numbers, or bits; at most 2^44 */
  uint8_t rsv[8];
} aclrtRandomNumTaskInfo;
/* `reserve` is null. 207000: other types, values in device memory. 100000: min > max, of integers
   min = max, a negative deviation, a ratio that is none. */
ACL_FUNC_VISIBILITY aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* task,
                                                 const aclrtStream stream, void* reserve);

#ifdef __cplusplus
}
#endif
#endif
