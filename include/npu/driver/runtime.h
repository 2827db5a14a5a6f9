/* SPDX-License-Identifier: Apache-2.0 */
/* The chip-level runtime for C programs (requirements.md M6): the functions of DeviceContext and
   TaskGraph. device_context.hpp and task_graph.hpp have the details.

   Functions that return int return 0 or a negative error code (npu_error_name()).
   npu_last_error() returns its text. A missing pointer is NPU_ERROR_INVALID_ARGUMENT. No function
   throws. Only one thread at a time may use a context. */
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
/* A task graph. The caller provides npu_get_runtime_size() bytes, aligned as by malloc(). */
typedef struct npu_runtime npu_runtime;

/* Codes -1 .. -17 are those of npu::ErrorCode, in its order. */
#define NPU_ERROR_INVALID_ARGUMENT (-1)
#define NPU_ERROR_NOT_FOUND (-4)
#define NPU_ERROR_ALREADY_EXISTS (-5)
#define NPU_ERROR_OUT_OF_MEMORY (-7)
#define NPU_ERROR_TIMEOUT (-10)
#define NPU_ERROR_DEVICE_LOST (-11)
#define NPU_ERROR_DEVICE_FAULT (-12)
#define NPU_ERROR_ABORTED (-17)

NPU_C_API const char* npu_error_name(int code);
/* Text of the context's last error; empty: none. */
NPU_C_API const char* npu_last_error(const npu_device_context* context);

/* `platform` outlives the context. Returns null without memory or platform. */
NPU_C_API npu_device_context* npu_create_device_context(npu_platform* platform);
NPU_C_API void npu_destroy_device_context(npu_device_context* context);
NPU_C_API int npu_set_device(npu_device_context* context, int device_id);
/* Closes the card. The context can open a card again. */
NPU_C_API int npu_finalize_device(npu_device_context* context);

/* Returns a device address, or 0 after an error. */
NPU_C_API uint64_t npu_device_malloc(npu_device_context* context, size_t size);
NPU_C_API int npu_device_free(npu_device_context* context, uint64_t address);
NPU_C_API int npu_copy_to_device(npu_device_context* context, uint64_t to, const void* from,
                                 size_t size);
NPU_C_API int npu_copy_from_device(npu_device_context* context, void* to, uint64_t from,
                                   size_t size);
NPU_C_API int npu_register_kernel(npu_device_context* context, uint32_t func_id, const void* binary,
                                  size_t size);
NPU_C_API int npu_unregister_kernel(npu_device_context* context, uint32_t func_id);

/* The cores of a task's blocks. */
enum npu_task_shape { NPU_TASK_NONE = 0, NPU_TASK_AIC = 1, NPU_TASK_AIV = 2, NPU_TASK_MIXED = 3 };
/* How a task uses an argument: a scalar, or the address of a tensor. */
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
  uint64_t size; /* bytes of the tensor, for enable_dump_tensor; 0: unknown */
} npu_task_argument;

typedef struct npu_task_options {
  uint32_t blocks;      /* 1 .. 32767 */
  int32_t cooperative;  /* not 0: cooperative launch */
  uint64_t predicate;   /* device address of a uint32_t: the task waits for its last writer, and is
                           skipped if it is 0; 0: none */
  const int32_t* after; /* more tasks to wait for */
  size_t after_count;
  uint64_t user; /* of the caller */
} npu_task_options;

NPU_C_API size_t npu_get_runtime_size(void);
NPU_C_API void npu_runtime_init(npu_runtime* runtime);
NPU_C_API void npu_runtime_destroy(npu_runtime* runtime);
/* Return the number of the task, from 0, or a negative error code. */
NPU_C_API int npu_add_task(npu_runtime* runtime, uint32_t func_id, int shape, uint32_t blocks,
                           const npu_task_argument* arguments, size_t count);
NPU_C_API int npu_add_task_with(npu_runtime* runtime, uint32_t func_id, int shape,
                                const npu_task_argument* arguments, size_t count,
                                const npu_task_options* options);
NPU_C_API int npu_add_dependency(npu_runtime* runtime, int task, int producer);

/* Text of the graph's last error; empty: none. */
NPU_C_API const char* npu_runtime_error(const npu_runtime* runtime);

/* Adds the tasks of a run. Returns 0 for success. */
typedef int (*npu_callable)(npu_runtime* runtime, const uint64_t* args, size_t count);

/* After a first run only aicpu_thread_num must be set. */
typedef struct npu_run_config {
  uint32_t block_dim;        /* clusters; 0: all */
  uint32_t aicpu_thread_num; /* scheduler threads, not 0 */
  const void* aicpu_binary;  /* the scheduler; null: as in the run before */
  size_t aicpu_size;
  const void* aicore_binary; /* the executor */
  size_t aicore_size;
  int enable_profiling;   /* npu_last_task_records() */
  int enable_dump_tensor; /* npu_last_tensor_copies() */
  uint32_t enable_pmu;    /* event group, 0: off; npu_last_pmu_records() */
  int memory_handshake;   /* 0: handshake by registers */
  int device_id;          /* of the set device; sets it if none is set */
  int single_issue;       /* not 0: a core gets a task after the end of the one before */
  uint64_t watchdog_ns;   /* stops a run in which no task ends; 0: 1 s */
  uint64_t timeout_ns;    /* of the host for the whole run; 0: 10 s */
} npu_run_config;

/* Builds a new graph with `callable` (null: runs the present graph), and runs it to its end. */
NPU_C_API int npu_run_runtime(npu_device_context* context, npu_runtime* runtime,
                              npu_callable callable, const uint64_t* args, size_t count,
                              const npu_run_config* config);

/* --- Results of the last run, also of a failed one. Times are ticks of the system counter, with
   counter_hz ticks in a second. ~0: none. */
enum npu_run_status {
  NPU_RUN_OK = 0,
  NPU_RUN_NEVER_ENDED = 1, /* also without a run, or if it was refused */
  NPU_RUN_MALFORMED = 2,
  NPU_RUN_NOT_CORESIDENT = 7,
  NPU_RUN_TIMEOUT = 100,
  NPU_RUN_READY_OVERFLOW = 104,
  NPU_RUN_KERNEL_FAILED = 110,
  NPU_RUN_CORE_EXCEPTION = 111,
  NPU_RUN_CORE_MISSING = 112
};
/* Reasons of NPU_RUN_TIMEOUT. */
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
  uint32_t detail; /* the kernel's return value, or the fault code */
  uint32_t waits_for;
  uint32_t running, ready, waiting;
  uint32_t cond;
  uint64_t started, handshaken, wired, finished, ended;
  uint64_t dispatched_blocks, polls, counter_hz;
  uint32_t unwired;
  uint32_t block;      /* of the task */
  uint64_t dump_ticks; /* of all scheduler threads for copies of tensors */
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
  int32_t taken; /* 0: the task was skipped, or the run did not reach it */
  uint64_t tensor, ticks;
  const void* bytes; /* valid until the next run; null if not taken */
  size_t size;
} npu_tensor_copy;

NPU_C_API int npu_last_run_result(const npu_device_context* context, npu_run_result* result);
/* Copy at most `capacity` records, and return the number of all records. */
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
