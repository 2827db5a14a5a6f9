/* SPDX-License-Identifier: Apache-2.0 */
/* The chip-level runtime for C (requirements.md M6): DeviceContext and TaskGraph
   (device_context.hpp, task_graph.hpp), which say what is not said here.

   Functions that return int return 0, or a negative code that npu_error_name() names;
   npu_last_error() says what it was about. A null pointer where a thing is needed is
   NPU_ERROR_INVALID_ARGUMENT. Nothing is ever thrown. One thread at a time uses a context. */
#ifndef NPU_DRIVER_RUNTIME_H
#define NPU_DRIVER_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NPU_C_API __attribute__((visibility("default")))

typedef struct npu_device_context npu_device_context;
/* An npu::platform::Platform. */
typedef struct npu_platform npu_platform;
/* A task graph, in npu_get_runtime_size() bytes of the caller's, aligned as malloc() does. */
typedef struct npu_runtime npu_runtime;

/* -1 .. -17: npu::ErrorCode in its order. */
#define NPU_ERROR_INVALID_ARGUMENT (-1)
#define NPU_ERROR_NOT_FOUND (-4)
#define NPU_ERROR_ALREADY_EXISTS (-5)
#define NPU_ERROR_OUT_OF_MEMORY (-7)
#define NPU_ERROR_TIMEOUT (-10)
#define NPU_ERROR_DEVICE_LOST (-11)
#define NPU_ERROR_DEVICE_FAULT (-12)
#define NPU_ERROR_ABORTED (-17)

NPU_C_API const char* npu_error_name(int code);
/* Of the context's last call that failed; empty if none did. */
NPU_C_API const char* npu_last_error(const npu_device_context* context);

/* Null: no memory, or no platform. `platform` outlives the context. */
NPU_C_API npu_device_context* npu_create_device_context(npu_platform* platform);
NPU_C_API void npu_destroy_device_context(npu_device_context* context);
NPU_C_API int npu_set_device(npu_device_context* context, int device_id);
/* Gives the card back; the context may be set to a device again. */
NPU_C_API int npu_finalize_device(npu_device_context* context);

/* A device address; 0: an error, see npu_last_error(). */
NPU_C_API uint64_t npu_device_malloc(npu_device_context* context, size_t size);
NPU_C_API int npu_device_free(npu_device_context* context, uint64_t address);
NPU_C_API int npu_copy_to_device(npu_device_context* context, uint64_t to, const void* from,
                                 size_t size);
NPU_C_API int npu_copy_from_device(npu_device_context* context, void* to, uint64_t from,
                                   size_t size);
NPU_C_API int npu_register_kernel(npu_device_context* context, uint32_t func_id, const void* binary,
                                  size_t size);
NPU_C_API int npu_unregister_kernel(npu_device_context* context, uint32_t func_id);

/* What a task's blocks run on. */
enum npu_task_shape { NPU_TASK_NONE = 0, NPU_TASK_AIC = 1, NPU_TASK_AIV = 2, NPU_TASK_MIXED = 3 };
/* What a task does with an argument: no tensor, or the address of one. */
enum npu_argument_kind {
  NPU_ARGUMENT_SCALAR = 0,
  NPU_ARGUMENT_INPUT = 1,
  NPU_ARGUMENT_OUTPUT = 2,
  NPU_ARGUMENT_INOUT = 3,
  NPU_ARGUMENT_NO_DEPENDENCY = 4
};
typedef struct npu_task_argument {
  uint64_t word;
  int32_t kind; /* npu_argument_kind */
  int32_t reserved;
  uint64_t size; /* bytes of the tensor; 0: unknown. Only enable_dump_tensor needs it */
} npu_task_argument;

typedef struct npu_task_options {
  uint32_t blocks;      /* 1 .. 32767 */
  int32_t cooperative;  /* not 0: no block begins before all have a core */
  uint64_t predicate;   /* device address of a uint32_t: the task waits for its last writer, and is
                           skipped if it is 0 then; 0: none */
  const int32_t* after; /* tasks to wait for, beside those that the arguments say */
  size_t after_count;
  uint64_t user; /* the caller's own */
} npu_task_options;

NPU_C_API size_t npu_get_runtime_size(void);
NPU_C_API void npu_runtime_init(npu_runtime* runtime);
NPU_C_API void npu_runtime_destroy(npu_runtime* runtime);
/* The task's number, from 0; negative: an error. */
NPU_C_API int npu_add_task(npu_runtime* runtime, uint32_t func_id, int shape, uint32_t blocks,
                           const npu_task_argument* arguments, size_t count);
NPU_C_API int npu_add_task_with(npu_runtime* runtime, uint32_t func_id, int shape,
                                const npu_task_argument* arguments, size_t count,
                                const npu_task_options* options);
NPU_C_API int npu_add_dependency(npu_runtime* runtime, int task, int producer);

/* Of the last call above that failed; empty if none did. */
NPU_C_API const char* npu_runtime_error(const npu_runtime* runtime);

/* Adds the tasks of a run; 0 is success. */
typedef int (*npu_callable)(npu_runtime* runtime, const uint64_t* args, size_t count);

/* All zeros but for aicpu_thread_num is a valid one, after a first run. */
typedef struct npu_run_config {
  uint32_t block_dim;        /* clusters; 0: all */
  uint32_t aicpu_thread_num; /* scheduler threads */
  const void* aicpu_binary;  /* the scheduler; null: that of the run before */
  size_t aicpu_size;
  const void* aicore_binary; /* the executor */
  size_t aicore_size;
  int enable_profiling;   /* npu_last_task_records() */
  int enable_dump_tensor; /* npu_last_tensor_copies() */
  uint32_t enable_pmu;    /* 0: off, else the event group; npu_last_pmu_records() */
  int memory_handshake;   /* 0: by registers */
  int device_id;          /* the one that is set; if none is, it is set now */
  int single_issue;       /* not 0: a core gets a task when it has ended the one before */
  uint64_t watchdog_ns;   /* without the end of a task; 0: 1 s */
  uint64_t timeout_ns;    /* of the host, for the whole run; 0: 10 s */
} npu_run_config;

/* Builds the graph anew with `callable` (null: it is built already) and runs it to its end. */
NPU_C_API int npu_run_runtime(npu_device_context* context, npu_runtime* runtime,
                              npu_callable callable, const uint64_t* args, size_t count,
                              const npu_run_config* config);

/* --- The last run, also one that failed: what the card had written by then.
   Times are ticks of the system counter, counter_hz of them a second; ~0 is "none". */
enum npu_run_status {
  NPU_RUN_OK = 0,
  NPU_RUN_NEVER_ENDED = 1, /* also: there was no run, or it was refused */
  NPU_RUN_MALFORMED = 2,
  NPU_RUN_NOT_CORESIDENT = 7,
  NPU_RUN_TIMEOUT = 100,
  NPU_RUN_READY_OVERFLOW = 104,
  NPU_RUN_KERNEL_FAILED = 110,
  NPU_RUN_CORE_EXCEPTION = 111,
  NPU_RUN_CORE_MISSING = 112
};
/* Of NPU_RUN_TIMEOUT. */
enum npu_stall_reason {
  NPU_STALL_RUNNING = 1,
  NPU_STALL_READY = 3,
  NPU_STALL_WAITING = 4,
  NPU_STALL_ORCHESTRATOR = 5,
  NPU_STALL_OTHER = 99
};
typedef struct npu_run_result {
  uint32_t status, reason;
  uint32_t completed; /* tasks */
  uint32_t task, worker, physical_core;
  uint32_t detail; /* what the kernel returned, or the fault's code */
  uint32_t waits_for;
  uint32_t running, ready, waiting;
  uint32_t cond;
  uint64_t started, handshaken, wired, finished, ended;
  uint64_t dispatched_blocks, polls, counter_hz;
  uint32_t unwired;
  uint32_t block;      /* of the task */
  uint64_t dump_ticks; /* for copies of tensors, of all scheduler threads */
} npu_run_result;

typedef struct npu_task_record {
  uint32_t task, block, worker, dispatch;
  uint64_t ready, sent, begun, ended, seen;
  uint32_t thread, physical_core;
} npu_task_record;

typedef struct npu_pmu_record {
  uint32_t counters[8];
  uint64_t clocks;
  uint32_t physical_core, core_type, group, reserved[3];
} npu_pmu_record;

enum npu_dump_stage { NPU_DUMP_BEFORE_DISPATCH = 1, NPU_DUMP_AFTER_COMPLETION = 2 };
typedef struct npu_tensor_copy {
  uint32_t task, argument;
  int32_t stage; /* npu_dump_stage */
  int32_t taken; /* 0: of a task that was skipped, or that the run did not come to */
  uint64_t tensor, ticks;
  const void* bytes; /* until the next run; null if not taken */
  size_t size;
} npu_tensor_copy;

NPU_C_API int npu_last_run_result(const npu_device_context* context, npu_run_result* result);
/* Fill in the first `capacity` ones, and return how many there are. */
NPU_C_API size_t npu_last_task_records(const npu_device_context* context, npu_task_record* records,
                                       size_t capacity);
NPU_C_API size_t npu_last_pmu_records(const npu_device_context* context, npu_pmu_record* records,
                                      size_t capacity);
NPU_C_API size_t npu_last_tensor_copies(const npu_device_context* context, npu_tensor_copy* copies,
                                        size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
