/* SPDX-License-Identifier: Apache-2.0 */
/* Times of kernels, and marks of the program. What is taken is written by aclprofStop() into the
   folder PATH/PROF_NUMBER, NUMBER counting from 000001: device_N/task_time.csv (kernel, stream,
   begin and end in us of the card's time, duration in us) and host/msprof_tx.csv (kind, domain,
   text, begin and end in us of simulated time). The card writes its time in front of each kernel
   and behind it, which the stream waits for: profiling takes time. Kernels of captured work are not
   there, nor are the cores' counters. */
#ifndef NPUSIM_ACL_PROF_H
#define NPUSIM_ACL_PROF_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be taken. Kernels come with one of the two that are not marked; the rest are accepted,
   and nothing is taken for them. */
#define ACL_PROF_ACL_API 0x1ull           /* nothing */
#define ACL_PROF_TASK_TIME 0x2ull
#define ACL_PROF_AICORE_METRICS 0x4ull    /* nothing */
#define ACL_PROF_AICPU 0x8ull             /* nothing */
#define ACL_PROF_L2CACHE 0x10ull          /* nothing */
#define ACL_PROF_HCCL_TRACE 0x20ull       /* nothing */
#define ACL_PROF_TRAINING_TRACE 0x40ull   /* nothing */
#define ACL_PROF_MSPROFTX 0x80ull         /* marks and ranges */
#define ACL_PROF_RUNTIME_API 0x100ull     /* nothing */
#define ACL_PROF_GE_API_L0 0x200ull       /* nothing */
#define ACL_PROF_TASK_TIME_L0 0x800ull
#define ACL_PROF_TASK_MEMORY 0x1000ull    /* nothing */
#define ACL_PROF_TASK_TIME_L2 0x2000ull   /* nothing */
#define ACL_PROF_OP_ATTR 0x4000ull        /* nothing */
#define ACL_PROF_GE_API_L1 0x1000000ull   /* nothing */

typedef enum {
  ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
  ACL_AICORE_PIPE_UTILIZATION = 1,
  ACL_AICORE_MEMORY_BANDWIDTH = 2,
  ACL_AICORE_L0B_AND_WIDTH = 3,
  ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
  ACL_AICORE_MEMORY_UB = 5,
  ACL_AICORE_L2_CACHE = 6,
  ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
  ACL_AICORE_MEMORY_ACCESS = 8,
  ACL_AICORE_NONE = 0xFF
} aclprofAicoreMetrics;
typedef enum { ACL_STEP_START = 0, ACL_STEP_END = 1 } aclprofStepTag;
typedef enum {
  ACL_PROF_ARGS_MIN = 0,
  ACL_PROF_STORAGE_LIMIT = 1,
  ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
  ACL_PROF_LLC_MODE = 4,
  ACL_PROF_SYS_IO_FREQ = 5,
  ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
  ACL_PROF_DVPP_FREQ = 7,
  ACL_PROF_HOST_SYS = 8,
  ACL_PROF_HOST_SYS_USAGE = 9,
  ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
  ACL_PROF_LOW_POWER_FREQ = 11,
  ACL_PROF_SYS_MEM_SERVICEFLOW = 12,
  ACL_PROF_SYS_CPU_FREQ = 13,
  ACL_PROF_OPTYPE = 14,
  ACL_PROF_NTS_METRICS = 15,
  ACL_PROF_PATH = 16,
  ACL_PROF_ARGS_MAX = 17
} aclprofConfigType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofStepInfo aclprofStepInfo;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;

/* The folder is made. 100000: no path; 100042: a second call; 100004: it cannot be made. */
ACL_FUNC_VISIBILITY aclError aclprofInit(const char* path, size_t length);
/* 100043: not initialised. */
ACL_FUNC_VISIBILITY aclError aclprofFinalize(void);
/* Null: no devices, or events, which are null. */
ACL_FUNC_VISIBILITY aclprofConfig* aclprofCreateConfig(uint32_t* devices, uint32_t count,
                                                       aclprofAicoreMetrics metrics,
                                                       const aclprofAicoreEvents* events,
                                                       uint64_t what);
ACL_FUNC_VISIBILITY aclError aclprofDestroyConfig(const aclprofConfig* config);
/* A path is used as aclprofInit()'s; other values are kept, and nothing is sampled by time. */
ACL_FUNC_VISIBILITY aclError aclprofSetConfig(aclprofConfigType type, const char* value,
                                              size_t length);
/* 100043: not initialised; 100042: started. */
ACL_FUNC_VISIBILITY aclError aclprofStart(const aclprofConfig* config);
/* Kernels that have not ended are left out. 100043: not started; 100004: a file cannot be written. */
ACL_FUNC_VISIBILITY aclError aclprofStop(const aclprofConfig* config);

/* --- Steps: ranges "step" of the host's time, whichever the stream is. 100000: an end without a
   start. */
ACL_FUNC_VISIBILITY aclprofStepInfo* aclprofCreateStepInfo(void);
ACL_FUNC_VISIBILITY void aclprofDestroyStepInfo(aclprofStepInfo* step);
ACL_FUNC_VISIBILITY aclError aclprofGetStepTimestamp(aclprofStepInfo* step, aclprofStepTag tag,
                                                     aclrtStream stream);

/* --- Marks. Null where a stamp is wanted: 100000. A text has at most 127 bytes. */
ACL_FUNC_VISIBILITY void* aclprofCreateStamp(void);
ACL_FUNC_VISIBILITY void aclprofDestroyStamp(void* stamp);
ACL_FUNC_VISIBILITY aclError aclprofSetStampTraceMessage(void* stamp, const char* text,
                                                         uint32_t length);
ACL_FUNC_VISIBILITY aclError aclprofMark(void* stamp);
/* Ranges of the thread, one in another. 500000: none is open. */
ACL_FUNC_VISIBILITY aclError aclprofPush(void* stamp);
ACL_FUNC_VISIBILITY aclError aclprofPop(void);
/* Ranges of any thread. 100000: there is none of that number. */
ACL_FUNC_VISIBILITY aclError aclprofRangeStart(void* stamp, uint32_t* number);
ACL_FUNC_VISIBILITY aclError aclprofRangeStop(uint32_t number);

/* --- Operators of a model in a pipe. No model of the vendor's runs here, so nothing is ever
   written; the end of the subscription closes `*fd`. 100000: null, or no such subscription. */
ACL_FUNC_VISIBILITY aclprofSubscribeConfig* aclprofCreateSubscribeConfig(
    int8_t times, aclprofAicoreMetrics metrics, void* fd);
ACL_FUNC_VISIBILITY aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* config);
ACL_FUNC_VISIBILITY aclError aclprofModelSubscribe(uint32_t model,
                                                   const aclprofSubscribeConfig* config);
ACL_FUNC_VISIBILITY aclError aclprofModelUnSubscribe(uint32_t model);
/* Of what is read from the pipe. */
ACL_FUNC_VISIBILITY aclError aclprofGetOpDescSize(size_t* size);
ACL_FUNC_VISIBILITY aclError aclprofGetOpNum(const void* data, size_t length, uint32_t* count);
ACL_FUNC_VISIBILITY aclError aclprofGetOpTypeLen(const void* data, size_t length, uint32_t index,
                                                 size_t* size);
ACL_FUNC_VISIBILITY aclError aclprofGetOpType(const void* data, size_t length, uint32_t index,
                                              char* text, size_t size);
ACL_FUNC_VISIBILITY aclError aclprofGetOpNameLen(const void* data, size_t length, uint32_t index,
                                                 size_t* size);
ACL_FUNC_VISIBILITY aclError aclprofGetOpName(const void* data, size_t length, uint32_t index,
                                              char* text, size_t size);
/* 0: there is none. */
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpStart(const void* data, size_t length, uint32_t index);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpEnd(const void* data, size_t length, uint32_t index);
ACL_FUNC_VISIBILITY uint64_t aclprofGetOpDuration(const void* data, size_t length, uint32_t index);
ACL_FUNC_VISIBILITY size_t aclprofGetModelId(const void* data, size_t length, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
