/* SPDX-License-Identifier: Apache-2.0 */
/* The chip-level runtime for C (mission.md M6): DeviceContext and TaskGraph
   (device_context.hpp, task_graph.hpp), which say what is not said here.

   Functions that return int return 0, or a negative code that npu_error_name() names;
   npu_last_error() says what it was about. One thread at a time uses a context. */
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
#define NPU_ERROR_OUT_OF_MEMORY (-7)
#define NPU_ERROR_TIMEOUT (-10)
#define NPU_ERROR_DEVICE_LOST (-11)
#define NPU_ERROR_DEVICE_FAULT (-12)

NPU_C_API const char* npu_error_name(int code);
/* Of the context's last call that failed; empty if none did. */
NPU_C_API const char* npu_last_error(const npu_device_context* context);

/* Null: no memory. `platform` outlives the context. */
NPU_C_API npu_device_context* npu_create_device_context(npu_platform* platform);
NPU_C_API void npu_destroy_device_context(npu_device_context* context);
NPU_C_API int npu_set_device(npu_device_context* context, int device_id);
/* Gives the card back; the context may be set to a device again. */
NPU_C_API int npu_finalize_device(npu_device_context* context);

/* A device address; 0: an error. */
NPU_C_API uint64_t npu_device_malloc(npu_device_context* context, size_t size);
NPU_C_API int npu_device_free(npu_device_context* context, uint64_t address);
NPU_C_API int npu_copy_to_device(npu_device_context* context, uint64_t to, const void* from,
                                 size_t size);
NPU_C_API int npu_copy_from_device(npu_device_context* context, void* to, uint64_t from,
                                   size_t size);
NPU_C_API int npu_register_kernel(npu_device_context* context, uint32_t func_id,
                                  const void* binary, size_t size);
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
} npu_task_argument;

NPU_C_API size_t npu_get_runtime_size(void);
NPU_C_API void npu_runtime_init(npu_runtime* runtime);
NPU_C_API void npu_runtime_destroy(npu_runtime* runtime);
/* The task's number, from 0; negative: an error. */
NPU_C_API int npu_add_task(npu_runtime* runtime, uint32_t func_id, int shape, uint32_t blocks,
                           const npu_task_argument* arguments, size_t count);
NPU_C_API int npu_add_dependency(npu_runtime* runtime, int task, int producer);

/* Adds the tasks of a run; 0 is success. */
typedef int (*npu_callable)(npu_runtime* runtime, const uint64_t* args, size_t count);

typedef struct npu_run_config {
  uint32_t block_dim;        /* clusters; 0: all */
  uint32_t aicpu_thread_num; /* scheduler threads */
  const void* aicpu_binary;  /* the scheduler; null: that of the run before */
  size_t aicpu_size;
  const void* aicore_binary; /* the executor */
  size_t aicore_size;
  int enable_profiling;
  int enable_dump_tensor; /* not 0: an error, tensors cannot be dumped yet */
  uint32_t enable_pmu;       /* 0: off, else the event group */
  int memory_handshake;      /* 0: by registers */
} npu_run_config;

/* Builds the graph anew with `callable` (null: it is built already) and runs it to its end. */
NPU_C_API int npu_run_runtime(npu_device_context* context, npu_runtime* runtime,
                              npu_callable callable, const uint64_t* args, size_t count,
                              const npu_run_config* config);

#ifdef __cplusplus
}
#endif
#endif
