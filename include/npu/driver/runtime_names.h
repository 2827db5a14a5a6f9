/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of runtime.h under the names of the public runtime (docs/sources/runtime.md A4,
   "seed"), for C programs written for that: no prefix, `_ctx` for functions of a context, and the
   options of a run one by one.

   Two things differ from the public runtime. create_device_context() needs a platform. `args` of
   run_runtime() is a runtime_args, with the number of words.

   The short names, such as set_device, may collide with others of the program. */
#ifndef NPU_DRIVER_RUNTIME_NAMES_H
#define NPU_DRIVER_RUNTIME_NAMES_H

#include <string.h>

#include "npu/driver/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef npu_device_context* DeviceContextHandle;
/* get_runtime_size() bytes of the caller, aligned as by malloc(). */
typedef npu_runtime* RuntimeHandle;

typedef struct runtime_args {
  const uint64_t* words; /* device addresses of tensors, then scalars */
  size_t count;
} runtime_args;

/* Returns null without memory or platform. */
static inline DeviceContextHandle create_device_context(npu_platform* platform) {
  return npu_create_device_context(platform);
}
static inline void destroy_device_context(DeviceContextHandle context) {
  npu_destroy_device_context(context);
}
static inline size_t get_runtime_size(void) {
  return npu_get_runtime_size();
}
static inline int set_device(DeviceContextHandle context, int device_id) {
  return npu_set_device(context, device_id);
}
static inline int finalize_device(DeviceContextHandle context) {
  return npu_finalize_device(context);
}

/* Returns a device address, which the host cannot access, or null after an error. */
static inline void* device_malloc_ctx(DeviceContextHandle context, size_t size) {
  return (void*)(uintptr_t)npu_device_malloc(context, size);
}
static inline int device_free_ctx(DeviceContextHandle context, void* address) {
  return npu_device_free(context, (uint64_t)(uintptr_t)address);
}
static inline int copy_to_device_ctx(DeviceContextHandle context, void* to, const void* from,
                                     size_t size) {
  return npu_copy_to_device(context, (uint64_t)(uintptr_t)to, from, size);
}
static inline int copy_from_device_ctx(DeviceContextHandle context, void* to, const void* from,
                                       size_t size) {
  return npu_copy_from_device(context, to, (uint64_t)(uintptr_t)from, size);
}

/* Builds a graph in `runtime` with `callable`, runs it to its end and destroys it. Null binaries:
   as in the run before. `enable_pmu`: the event group; 0: off.
   NPU_ERROR_INVALID_ARGUMENT: no context, runtime or callable; the callable failed; a negative
   number. Also the errors of npu_run_runtime(). */
static inline int run_runtime(DeviceContextHandle context, RuntimeHandle runtime,
                              npu_callable callable, const runtime_args* args, int block_dim,
                              int aicpu_thread_num, int device_id, const uint8_t* aicpu_binary,
                              size_t aicpu_size, const uint8_t* aicore_binary, size_t aicore_size,
                              int enable_profiling, int enable_dump_tensor, int enable_pmu) {
  npu_run_config config;
  int code;
  if (runtime == NULL || callable == NULL || block_dim < 0 || aicpu_thread_num < 0 ||
      enable_pmu < 0) {
    return NPU_ERROR_INVALID_ARGUMENT;
  }
  memset(&config, 0, sizeof config);
  config.block_dim = (uint32_t)block_dim;
  config.aicpu_thread_num = (uint32_t)aicpu_thread_num;
  config.device_id = device_id;
  config.aicpu_binary = aicpu_binary;
  config.aicpu_size = aicpu_size;
  config.aicore_binary = aicore_binary;
  config.aicore_size = aicore_size;
  config.enable_profiling = enable_profiling;
  config.enable_dump_tensor = enable_dump_tensor;
  config.enable_pmu = (uint32_t)enable_pmu;
  npu_runtime_init(runtime);
  code = npu_run_runtime(context, runtime, callable, args == NULL ? NULL : args->words,
                         args == NULL ? 0 : args->count, &config);
  npu_runtime_destroy(runtime);
  return code;
}

#ifdef __cplusplus
}
#endif
#endif
