/* SPDX-License-Identifier: Apache-2.0 */
/* What each misuse says. */
#include "check.h"

#define BAD ACL_ERROR_RT_PARAM_INVALID
#define HANDLE ACL_ERROR_RT_INVALID_HANDLE
#define NOT ACL_ERROR_RT_FEATURE_NOT_SUPPORT

static void allocations(void) {
  char host[8] = "";
  void* memory = NULL;
  size_t size = 0, count = 0;
  rtMallocAttribute_t wrong = {(rtMallocAttr)9, {0}};
  rtMallocConfig_t config = {NULL, 1};
  rtMemUsageInfo_t info;
  EXPECT(BAD, rtMalloc(NULL, 8, RT_MEMORY_HBM, 0));
  EXPECT(BAD, rtMalloc(&memory, 0, RT_MEMORY_HBM, 0));
  EXPECT(BAD, rtMalloc(&memory, 8, 0x55, 0));
  EXPECT(BAD, rtMalloc(&memory, 8, RT_MEMORY_HBM | 0xC00, 0));
  EXPECT(BAD, rtMalloc(&memory, 8, 1u << 31, 0));
  EXPECT(BAD, rtMalloc(&memory, UINT64_MAX, RT_MEMORY_SVM, 0));
  EXPECT(BAD, rtsMalloc(&memory, 8, RT_MEM_MALLOC_HUGE_FIRST, RT_MEM_ADVISE_NONE, &config));
  config.attrs = &wrong;
  EXPECT(BAD, rtsMalloc(&memory, 8, RT_MEM_MALLOC_HUGE_FIRST, RT_MEM_ADVISE_NONE, &config));
  EXPECT(BAD, rtsMalloc(&memory, 8, (rtMallocPolicy)9, RT_MEM_ADVISE_NONE, NULL));
  EXPECT(BAD, rtsMalloc(&memory, 8, RT_MEM_MALLOC_HUGE_FIRST, (rtMallocAdvise)9, NULL));
  EXPECT(NOT, rtsMalloc(&memory, 8, RT_MEM_MALLOC_HUGE_FIRST, RT_MEM_ADVISE_DVPP, NULL));
  wrong.attr = RT_MEM_MALLOC_ATTR_DEVICE_ID;
  wrong.value.deviceId = 5;
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID,
         rtsMalloc(&memory, 8, RT_MEM_MALLOC_HUGE_FIRST, RT_MEM_ADVISE_NONE, &config));
  EXPECT(BAD, rtFree(NULL));
  EXPECT(BAD, rtFree(host));
  EXPECT(BAD, rtFreeHost(host));
  EXPECT(BAD, rtMemcpy(host, 4, host, 8, RT_MEMCPY_HOST_TO_HOST));
  EXPECT(BAD, rtMemcpy(host, 8, host, 8, (rtMemcpyKind_t)9));
  EXPECT(BAD, rtMemcpy(host, 8, host, 8, RT_MEMCPY_HOST_TO_DEVICE));
  EXPECT(BAD, rtMemset(NULL, 8, 0, 8));
  EXPECT(BAD, rtMemGetInfoEx((rtMemInfoType_t)12, &size, &size));
  EXPECT(BAD, rtMemGetInfo(NULL, &size));
  EXPECT(BAD, rtGetMemUsageInfo(0, &info, 0, &count));
  EXPECT(BAD, rtHostRegister(host, 8, (rtHostRegisterType)2, &memory));
  EXPECT(NOT, rtHostRegister(host, 8, RT_HOST_REGISTER_READONLY, &memory));
  EXPECT(BAD, rtHostUnregister(host));
}

static void orders(void) {
  char host[8] = "";
  rtStream_t stream = NULL;
  EXPECT(BAD, rtStreamCreate(NULL, 0));
  EXPECT(BAD, rtStreamDestroy(NULL));
  EXPECT(HANDLE, rtStreamDestroy(host));
  EXPECT(HANDLE, rtStreamQuery(host));
  EXPECT(BAD, rtStreamSynchronizeWithTimeout(NULL, -2));
  EXPECT(BAD, rtStreamSetMode(NULL, 2));
  EXPECT(HANDLE, rtEventRecord(host, NULL));
  EXPECT(BAD, rtEventRecord(NULL, NULL));
  EXPECT(BAD, rtEventSynchronizeWithTimeout(host, -2));
  EXPECT(BAD, rtProcessReport(-2));
  EXPECT(BAD, rtCallbackLaunch(NULL, NULL, NULL, false));
  EXPECT(BAD, rtSubscribeReport(0, NULL));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, rtCtxSetCurrent(host));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, rtCtxCreateEx(&stream, 0, 9));
  EXPECT(BAD, rtSetDeviceResLimit(0, (rtDevResLimitType_t)2, 1));
  EXPECT(BAD, rtGetSocVersion(host, 4));
  EXPECT(NOT, rtModelExecute(host, NULL, 0));
}

static void kernels(void) {
  char host[8] = "";
  void* handle = NULL;
  rtArgsEx_t args = {0};
  rtHostInputInfo_t outside = {4, 0};
  rtTaskCfgInfo_t task = {0};
  rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF, 0, NULL, 8};
  EXPECT(BAD, rtDevBinaryRegister(&binary, &handle));
  binary.data = host;
  EXPECT(BAD, rtDevBinaryRegister(&binary, &handle));
  binary.length = (uint64_t)1 << 40;
  EXPECT(BAD, rtDevBinaryRegister(&binary, &handle));
  EXPECT(HANDLE, rtDevBinaryUnRegister(host));
  EXPECT(HANDLE, rtsFuncGetByName(host, "add", &handle));
  EXPECT(BAD, rtFunctionRegister(host, NULL, "add", NULL, 0));
  EXPECT(BAD, rtKernelLaunchWithHandleV2(NULL, 0, 1, NULL, NULL, NULL, NULL));
  EXPECT(HANDLE, rtKernelLaunchWithHandleV2(host, 0, 1, NULL, NULL, NULL, NULL));
  binary.magic = NPUSIM_RT_MAGIC_BUILT_IN;
  OK(rtDevBinaryRegister(&binary, &handle));
  EXPECT(HANDLE, rtKernelLaunchWithHandleV2(handle, 0, 1, NULL, NULL, NULL, NULL));
  OK(rtsFuncGetByName(handle, "spin", &handle));
  args.args = host;
  args.argsSize = sizeof host;
  EXPECT(BAD, rtKernelLaunchWithHandleV2(handle, 0, 0, &args, NULL, NULL, NULL));
  EXPECT(BAD, rtKernelLaunchWithHandleV2(handle, 0, 65536, &args, NULL, NULL, NULL));
  task.rev[0] = 3;
  EXPECT(BAD, rtKernelLaunchWithHandleV2(handle, 0, 1, &args, NULL, NULL, &task));
  args.hostInputInfoNum = 1;
  EXPECT(BAD, rtKernelLaunchWithHandleV2(handle, 0, 1, &args, NULL, NULL, NULL));
  args.hostInputInfoPtr = &outside;
  args.isNoNeedH2DCopy = 1;
  EXPECT(BAD, rtKernelLaunchWithHandleV2(handle, 0, 1, &args, NULL, NULL, NULL));
  EXPECT(NOT, rtAicpuKernelLaunchExWithArgs(0, "x", 1, NULL, NULL, NULL, 0));
}

int main(void) {
  void* memory = NULL;
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, rtMalloc(&memory, 8, RT_MEMORY_HBM, 0));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, rtSetDevice(77));
  OK(rtSetDevice(0));
  allocations();
  orders();
  kernels();
  return end_right();
}
