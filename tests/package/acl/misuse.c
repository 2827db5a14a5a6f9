/* SPDX-License-Identifier: Apache-2.0 */
/* What each misuse says. */
#include <string.h>

#include "check.h"

static void arguments(aclrtStream stream) {
  char host[8] = "";
  void* memory = NULL;
  size_t size = 0;
  int64_t value = 0;
  float time = 0;
  uint64_t key = 0;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle function = NULL;
  aclrtDrvMemHandle handle = NULL;
  aclrtPhysicalMemProp on_host = {0};
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo((aclrtMemAttr)12, &size, &size));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, NULL, &size));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, 8, (aclrtMemMallocPolicy)8));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&memory, 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemset(NULL, 8, 0, 8));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemset(host, 4, 0, 8));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStreamWithTimeout(stream, -2));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(stream, 2));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(NULL));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(host));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(host, stream));
  aclrtEvent event = new_event();
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtEventElapsedTime(&time, event, event));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceInfo(0, (aclrtDevAttr)9999, &value));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID,
         aclrtGetDeviceInfo(9, ACL_DEV_ATTR_AICORE_CORE_NUM, &value));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromFile("/nowhere", NULL, &binary));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("/dev/null", NULL, &binary));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryGetFunction(stream, "add", &function));
  EXPECT(ACL_ERROR_API_NOT_SUPPORT, aclrtMallocPhysical(&handle, 2 << 20, &on_host, 0));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtMapMem(host, 2 << 20, 0, stream, 0));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE,
         aclrtMemExportToShareableHandle(stream, ACL_MEM_HANDLE_TYPE_NONE, 0, &key));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtSubscribeReport(0, stream));
  EXPECT(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtProcessReport(1));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtUnuseStreamResInCurrentThread(stream));
  EXPECT(ACL_ERROR_API_NOT_SUPPORT, aclmdlUnload(1));
  EXPECT(ACL_ERROR_API_NOT_SUPPORT, aclopLoad(host, sizeof host));
}

/* The words say what is wrong with the address. */
static void addresses(void) {
  char host[8];
  void* memory = device_memory(8192);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree((char*)memory + 64));
  REQUIRE(strstr(aclGetRecentErrMsg(), "inside of an allocation") != NULL);
  OK(aclrtFree(memory));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory));
  REQUIRE(strstr(aclGetRecentErrMsg(), "it was freed before, or never was") != NULL);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(host));
  REQUIRE(strstr(aclGetRecentErrMsg(), "it was freed before, or never was") != NULL);
  REQUIRE(aclGetRecentErrMsg() == NULL);
}

/* What the library refuses by itself, until npusim refuses something. */
static void parameters(void) {
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(NULL));
  REQUIRE(strstr(aclGetRecentErrMsg(), "aclrtGetRunMode: ") != NULL);
  REQUIRE(aclGetRecentErrMsg() == NULL);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetRunMode(NULL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree((char*)NULL + 64));
  REQUIRE(strstr(aclGetRecentErrMsg(), "never was") != NULL);
}

int main(void) {
  char host[8];
  void* memory = NULL;
  int32_t device = 0;
  uint64_t left = 9;
  aclrtStream stream = NULL;
  aclrtContext other = NULL, primary = NULL;
  EXPECT(ACL_ERROR_UNINITIALIZE, aclFinalize());
  OK(aclInit(NULL));
  EXPECT(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(77));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  OK(aclrtSetDevice(0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMalloc(NULL, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(NULL, 0, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 4, host, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(memory, 8, host, 8, (aclrtMemcpyKind)99));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(host, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtFree(NULL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree((char*)memory + 64));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(memory));
  OK(aclrtCreateStream(&stream));
  OK(aclrtGetCurrentContext(&primary));
  OK(aclrtCreateContext(&other, 0));
  EXPECT(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(stream));
  OK(aclrtSetCurrentContext(primary));
  OK(aclrtDestroyContext(other));
  /* Of the thread's own stack. */
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegister(host, sizeof host, 0, &memory));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtLaunchKernel(NULL, 1, NULL, 0, stream));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchKernel(stream, 1, NULL, 0, stream));
  arguments(stream);
  addresses();
  parameters();
  OK(aclrtResetDeviceForce(0));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  OK(aclFinalizeReference(&left));
  REQUIRE(left == 1);
  OK(aclFinalize());
  EXPECT(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  puts("right");
  return 0;
}
