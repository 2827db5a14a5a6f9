/* SPDX-License-Identifier: Apache-2.0 */
/* What each misuse says. */
#include "check.h"

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
  EXPECT(ACL_ERROR_API_NOT_SUPPORT, aclrtHostRegister(host, sizeof host, 0, &memory));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtLaunchKernel(NULL, 1, NULL, 0, stream));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtLaunchKernel(stream, 1, NULL, 0, stream));
  OK(aclrtResetDeviceForce(0));
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  OK(aclFinalizeReference(&left));
  REQUIRE(left == 1);
  OK(aclFinalize());
  EXPECT(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  puts("right");
  return 0;
}
