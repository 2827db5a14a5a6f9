/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the ACL alone: hooked QUOTA. What it does is as many calls of the runtime as the
   test knows; it is shown the quota and gets no more. */
#include <acl/acl.h>
#include <acl/npusim_kernels.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP(code, call)                                                                \
  do {                                                                                  \
    const aclError got_ = (call);                                                       \
    if (got_ != (code)) {                                                               \
      fprintf(stderr, "%d: %s: %d, expected %d\n", __LINE__, #call, got_, (int)(code)); \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)
#define OK(call) STEP(ACL_SUCCESS, call)
#define COUNT 1024u

/* Four allocations, of which the last is refused; one of physical memory that is refused, too. */
static void memory(size_t quota, void** a) {
  size_t free = 0, total = 0;
  void* more = NULL;
  aclrtMallocAttribute attribute = {ACL_RT_MEM_ATTR_VA_FLAG, {0}};
  aclrtMallocConfig config = {&attribute, 1};
  aclrtDrvMemHandle handle = NULL;
  aclrtPhysicalMemProp on_card = {ACL_MEM_HANDLE_TYPE_NONE,
                                  ACL_MEM_ALLOCATION_TYPE_PINNED,
                                  ACL_HBM_MEM_HUGE,
                                  {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                                  0};
  attribute.value.vaFlag = 1;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  if (total != quota) exit(fprintf(stderr, "shown %zu\n", total) > 0);
  OK(aclrtMalloc(a, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocAlign32(&more, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  OK(aclrtMallocWithCfg(&more, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
  STEP(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&more, quota, ACL_MEM_MALLOC_HUGE_FIRST));
  STEP(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocPhysical(&handle, quota, &on_card, 0));
}

/* Of the operator library: it adds ones, too. */
static void operator_of(void* a, aclrtStream stream) {
  const int64_t size = COUNT;
  aclTensorDesc* is[2] = {aclCreateTensorDesc(ACL_FLOAT, 1, &size, ACL_FORMAT_ND), NULL};
  aclDataBuffer* data[2] = {aclCreateDataBuffer(a, COUNT * sizeof(float)), NULL};
  is[1] = is[0];
  data[1] = data[0];
  OK(aclopExecuteV2("Add", 2, is, data, 1, is, data, NULL, stream));
}

/* Three launches, in each way that there is. */
static void launches(void* a, aclrtStream stream) {
  npusim_elementwise_args add = {0, 0, 0, COUNT, ACL_FLOAT};
  npusim_spin_args spin = {100};
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle function = NULL, spins = NULL;
  aclrtArgsHandle args = NULL;
  add.to = add.a = add.b = (uint64_t)(uintptr_t)a;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "add", &function));
  OK(aclrtBinaryGetFunction(binary, "spin", &spins));
  OK(aclrtLaunchKernel(function, 1, &add, sizeof add, stream));
  OK(aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &add, sizeof add, NULL, 0));
  OK(aclrtKernelArgsInit(spins, &args));
  OK(aclrtKernelArgsAppend(args, &spin, sizeof spin, NULL));
  OK(aclrtKernelArgsFinalize(args));
  OK(aclrtLaunchKernelWithConfig(spins, 1, stream, NULL, args, NULL));
}

int main(int argc, char** argv) {
  float data[COUNT];
  void* a = NULL;
  aclrtStream stream = NULL;
  aclrtEvent event = NULL;
  for (unsigned i = 0; i < COUNT; ++i) data[i] = 1;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  OK(aclrtCreateEvent(&event));
  memory(argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 0, &a);
  OK(aclrtMemcpy(a, sizeof data, data, sizeof data, ACL_MEMCPY_HOST_TO_DEVICE));
  launches(a, stream);
  operator_of(a, stream);
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(data, sizeof data, a, sizeof data, ACL_MEMCPY_DEVICE_TO_HOST));
  if (data[COUNT - 1] != 8) exit(fprintf(stderr, "8 expected, not %f\n", data[COUNT - 1]) > 0);
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  puts("right");
  return 0;
}
