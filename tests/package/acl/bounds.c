/* SPDX-License-Identifier: Apache-2.0 */
/* bounds add|matmul|spin: one launch of that kernel, of a size that one thing bounds. */
#include <acl/npusim_kernels.h>
#include <string.h>

#include "check.h"

static void* block(size_t bytes) {
  void* memory = device_memory(bytes);
  OK(aclrtMemset(memory, bytes, 0, bytes));
  return memory;
}

static void launch(const char* kernel, const void* arguments, size_t size) {
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle function = NULL;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, kernel, &function));
  aclrtStream stream = new_stream();
  OK(aclrtLaunchKernel(function, 24, arguments, size, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtDestroyStream(stream));
  OK(aclrtBinaryUnLoad(binary));
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  open_device();
  if (strcmp(argv[1], "add") == 0) {
    const uint64_t count = 16 << 20;
    npusim_elementwise_args add = {(uint64_t)block(4 * count), (uint64_t)block(4 * count),
                                   (uint64_t)block(4 * count), count, ACL_FLOAT};
    launch("add", &add, sizeof add);
  } else if (strcmp(argv[1], "matmul") == 0) {
    const uint32_t side = 2048;
    const size_t bytes = 2 * (size_t)side * side;
    npusim_matmul_args product = {(uint64_t)block(bytes),
                                  (uint64_t)block(bytes),
                                  (uint64_t)block(bytes),
                                  side,
                                  side,
                                  side,
                                  ACL_FLOAT16};
    launch("matmul", &product, sizeof product);
  } else {
    npusim_spin_args spin = {100000};
    launch("spin", &spin, sizeof spin);
  }
  OK(aclrtResetDevice(0));
  return end_right();
}
