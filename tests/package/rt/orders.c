/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, functions in a stream's order, contexts, limits of cores. */
#define _POSIX_C_SOURCE 200809L
#include <acl/npusim_kernels.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

static void count(void* data) {
  ++*(int*)data;
}

static void* spinner(void) {
  const rtDevBinary_t built_in = {NPUSIM_RT_MAGIC_BUILT_IN, 0, NULL, 0};
  void *binary = NULL, *function = NULL;
  OK(rtRegisterAllKernel(&built_in, &binary));
  OK(rtsFuncGetByName(binary, "spin", &function));
  return function;
}

static void spin(void* function, uint64_t clocks, rtStream_t stream) {
  npusim_spin_args spins = {clocks};
  rtArgsEx_t args = {0};
  args.args = &spins;
  args.argsSize = sizeof spins;
  OK(rtKernelLaunchWithHandleV2(function, 0, 1, &args, NULL, stream, NULL));
}

static void streams_and_events(void* function) {
  rtStream_t first = NULL, second = NULL;
  rtEvent_t begin = NULL, end = NULL;
  rtEventStatus_t status = RT_EVENT_INIT;
  float took = 0;
  OK(rtStreamCreate(&first, 0));
  OK(rtStreamCreateWithFlags(&second, 1, 1));
  OK(rtStreamSetMode(first, 1));
  OK(rtEventCreate(&begin));
  OK(rtEventCreateExWithFlag(&end, 8));
  OK(rtEventRecord(begin, first));
  spin(function, 1000000, first);
  OK(rtEventRecord(end, first));
  OK(rtStreamWaitEvent(second, end));
  EXPECT(ACL_ERROR_RT_STREAM_NOT_COMPLETE, rtStreamQuery(second));
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, rtStreamSynchronizeWithTimeout(second, 0));
  OK(rtEventQueryStatus(end, &status));
  REQUIRE(status == RT_EVENT_INIT);
  OK(rtStreamSynchronize(second));
  OK(rtStreamQuery(second));
  OK(rtEventQueryStatus(end, &status));
  REQUIRE(status == RT_EVENT_RECORDED);
  OK(rtEventSynchronize(end));
  OK(rtEventSynchronizeWithTimeout(end, 1));
  OK(rtEventElapsedTime(&took, begin, end));
  REQUIRE(took > 0.1f);
  OK(rtEventReset(begin, first));
  OK(rtEventDestroy(begin));
  OK(rtEventDestroy(end));
  OK(rtStreamDestroy(first));
  OK(rtStreamDestroyForce(second));
}

static void functions(void) {
  int called = 0;
  const uint64_t self = (uint64_t)pthread_self();
  rtStream_t stream = NULL;
  OK(rtStreamCreate(&stream, 0));
  OK(rtSubscribeReport(self, stream));
  OK(rtCallbackLaunch(count, &called, stream, true));
  OK(rtProcessReport(-1));
  REQUIRE(called == 1);
  EXPECT(ACL_ERROR_RT_WAIT_TIMEOUT, rtProcessReport(1));
  OK(rtUnSubscribeReport(self, stream));
  OK(rtStreamDestroy(stream));
}

static void limits(void) {
  uint32_t value = 0;
  rtStream_t stream = NULL;
  OK(rtStreamCreate(&stream, 0));
  OK(rtSetDeviceResLimit(0, RT_DEV_RES_VECTOR_CORE, 3));
  OK(rtGetDeviceResLimit(0, RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 3);
  OK(rtSetStreamResLimit(stream, RT_DEV_RES_VECTOR_CORE, 2));
  OK(rtUseStreamResInCurrentThread(stream));
  OK(rtGetResInCurrentThread(RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  OK(rtNotUseStreamResInCurrentThread(stream));
  OK(rtGetStreamResLimit(stream, RT_DEV_RES_VECTOR_CORE, &value));
  REQUIRE(value == 2);
  OK(rtResetStreamResLimit(stream));
  OK(rtResetDeviceResLimit(0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, rtSetDeviceResLimit(0, RT_DEV_RES_VECTOR_CORE, 9999));
  OK(rtStreamDestroy(stream));
}

int main(void) {
  rtContext_t primary = NULL, other = NULL, current = NULL;
  rtRunMode mode = RT_RUN_MODE_OFFLINE;
  rtDeviceStatus status = RT_DEVICE_STATUS_END;
  int32_t devices = 0, device = -1, can = -1;
  int64_t cores = 0;
  char name[32] = "";
  OK(rtGetDeviceCount(&devices));
  REQUIRE(devices == 1);
  EXPECT(ACL_ERROR_RT_CONTEXT_NULL, rtGetDevice(&device));
  OK(rtSetDevice(0));
  OK(rtGetDevice(&device));
  REQUIRE(device == 0);
  OK(rtGetRunMode(&mode));
  OK(rtGetSocVersion(name, sizeof name));
  REQUIRE(mode == RT_RUN_MODE_ONLINE && strncmp(name, "Ascend9", 7) == 0);
  OK(rtGetDeviceInfo(0, 4, 3, &cores));
  OK(rtDeviceStatusQuery(0, &status));
  OK(rtDeviceCanAccessPeer(&can, 0, 0));
  REQUIRE(cores > 1 && status == RT_DEVICE_STATUS_NORMAL && can == 0);
  OK(rtCtxGetCurrent(&primary));
  OK(rtCtxCreateEx(&other, 0, 0));
  OK(rtCtxGetCurrent(&current));
  REQUIRE(current == other);
  OK(rtCtxSetCurrent(primary));
  OK(rtCtxDestroyEx(other));
  streams_and_events(spinner());
  functions();
  limits();
  OK(rtCtxSynchronize());
  OK(rtDeviceSynchronize());
  OK(rtDeviceResetForce(0));
  puts("right");
  return 0;
}
