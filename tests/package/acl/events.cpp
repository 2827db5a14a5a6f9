// SPDX-License-Identifier: Apache-2.0
// Streams that wait for each other, queries, time-outs.
#include <acl/npusim_kernels.h>

#include <cstdio>

#include "check.h"

int main() {
  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent done = nullptr, never = nullptr;
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle spin = nullptr;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&first));
  OK(aclrtCreateStream(&second));
  OK(aclrtCreateEventExWithFlag(&done, ACL_EVENT_SYNC));
  OK(aclrtCreateEvent(&never));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  const npusim_spin_args clocks = {20000000};  // about 11 ms
  OK(aclrtLaunchKernel(spin, 1, &clocks, sizeof clocks, first));
  OK(aclrtRecordEvent(done, first));
  OK(aclrtStreamWaitEvent(second, done));
  OK(aclrtLaunchKernel(spin, 1, &clocks, sizeof clocks, second));
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  OK(aclrtQueryEventStatus(done, &recorded));
  REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(second, 1));
  EXPECT(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(done, 1));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEvent(never));
  OK(aclrtSynchronizeStream(second));
  OK(aclrtQueryEventStatus(done, &recorded));
  REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  OK(aclrtStreamQuery(second, &status));
  REQUIRE(status == ACL_STREAM_STATUS_COMPLETE);
  OK(aclrtSynchronizeDevice());
  OK(aclrtDestroyStreamForce(first));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(first));
  OK(aclFinalize());
  std::puts("right");
}
