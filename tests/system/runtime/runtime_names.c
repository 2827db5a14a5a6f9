/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C against the public names, with the public arguments. It is compiled, not run. */
#include "npu/driver/runtime_names.h"

int run_once(npu_platform* platform, void* memory, npu_callable callable, const uint8_t* aicpu,
             size_t aicpu_size, const uint8_t* aicore, size_t aicore_size) {
  float host[16] = {0};
  uint64_t words[2];
  runtime_args args;
  int code;
  DeviceContextHandle context = create_device_context(platform);
  RuntimeHandle runtime = (RuntimeHandle)memory;
  void* tensor;
  if (context == NULL || get_runtime_size() == 0) return -1;
  code = set_device(context, 0);
  tensor = device_malloc_ctx(context, sizeof host);
  if (code == 0) code = copy_to_device_ctx(context, tensor, host, sizeof host);
  words[0] = (uint64_t)(uintptr_t)tensor;
  words[1] = 16;
  args.words = words;
  args.count = 2;
  if (code == 0) {
    code = run_runtime(context, runtime, callable, &args, 24, 3, 0, aicpu, aicpu_size, aicore,
                       aicore_size, 0, 0, 2);
  }
  if (code == 0) code = copy_from_device_ctx(context, host, tensor, sizeof host);
  if (code == 0) code = device_free_ctx(context, tensor);
  if (code == 0) code = finalize_device(context);
  destroy_device_context(context);
  return code;
}
