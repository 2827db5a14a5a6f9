/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries, stubs, each way to launch: launch BINARY, of a kernel without arguments. */
#include <acl/acl_base.h>
#include <acl/npusim_kernels.h>

#include "check.h"

#define COUNT 4096u
static const char kStub = 0;

static void* load(uint32_t magic, const char* path) {
  static char bytes[1 << 22];
  rtDevBinary_t binary = {magic, 0, bytes, 0};
  void* handle = NULL;
  if (path != NULL) {
    FILE* const file = fopen(path, "rb");
    REQUIRE(file != NULL);
    binary.length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
  }
  OK(rtDevBinaryRegister(&binary, &handle));
  return handle;
}

/* Each adds the numbers to themselves. */
static void launch_in_each_way(void* function, void* data) {
  const uint64_t at = (uint64_t)(uintptr_t)data;
  npusim_elementwise_args add = {0, 0, 0, COUNT, ACL_FLOAT};
  rtArgsEx_t args = {0};
  rtTaskCfgInfo_t vector = {0};
  add.to = add.a = add.b = at;
  args.args = &add;
  args.argsSize = sizeof add;
  vector.rev[0] = 2;
  OK(rtKernelLaunchWithHandleV2(function, 0, 4, &args, NULL, NULL, NULL));
  OK(rtKernelLaunchWithHandleV2(function, 9, 4, &args, NULL, NULL, &vector));
  OK(rtKernelLaunchWithHandle(function, 0, 4, &args, NULL, NULL, NULL));
  OK(rtKernelLaunch(&kStub, 4, &add, sizeof add, NULL, NULL));
  OK(rtKernelLaunchWithFlag(&kStub, 4, &args, NULL, NULL, 0));
  OK(rtKernelLaunchWithFlagV2(&kStub, 4, &args, NULL, NULL, 0, NULL));
  OK(rtStreamSynchronize(NULL));
}

int main(int argc, char** argv) {
  float numbers[COUNT];
  void *data = NULL, *built_in = NULL, *own = NULL, *function = NULL, *stub = NULL;
  rtArgsEx_t none = {0};
  for (unsigned i = 0; i < COUNT; ++i) numbers[i] = (float)i;
  OK(rtSetDevice(0));
  OK(rtMalloc(&data, sizeof numbers, RT_MEMORY_HBM, 7));
  OK(rtMemcpy(data, sizeof numbers, numbers, sizeof numbers, RT_MEMCPY_HOST_TO_DEVICE));
  built_in = load(NPUSIM_RT_MAGIC_BUILT_IN, NULL);
  OK(rtsFuncGetByName(built_in, "add", &function));
  OK(rtFunctionRegister(built_in, &kStub, "add", NULL, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtFunctionRegister(built_in, &kStub, "add", NULL, 0));
  OK(rtGetFunctionByName("add", &stub));
  REQUIRE(stub == &kStub);
  launch_in_each_way(function, data);
  OK(rtMemcpy(numbers, sizeof numbers, data, sizeof numbers, RT_MEMCPY_DEVICE_TO_HOST));
  for (unsigned i = 0; i < COUNT; ++i) REQUIRE(numbers[i] == 64 * (float)i);
  REQUIRE(argc == 2);
  own = load(RT_DEV_BINARY_MAGIC_ELF_AIVEC, argv[1]);
  OK(rtKernelLaunchWithHandleV2(own, 0, 2, NULL, NULL, NULL, NULL));
  OK(rtKernelLaunchWithHandleV2(own, 0, 2, &none, NULL, NULL, NULL));
  OK(rtStreamSynchronize(NULL));
  OK(rtDevBinaryUnRegister(own));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE,
         rtKernelLaunchWithHandleV2(own, 0, 2, NULL, NULL, NULL, NULL));
  OK(rtDevBinaryUnRegister(built_in));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtGetFunctionByName("add", &stub));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtKernelLaunch(&kStub, 1, NULL, 0, NULL, NULL));
  return end_right();
}
