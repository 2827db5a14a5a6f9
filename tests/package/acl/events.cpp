// SPDX-License-Identifier: Apache-2.0
// Streams that wait for each other, queries, time-outs.

#include <cstdio>

#include "spin.h"

int main() {
  aclrtEvent done = nullptr;
  open_device();
  aclrtStream first = new_stream();
  aclrtStream second = new_stream();
  OK(aclrtCreateEventExWithFlag(&done, ACL_EVENT_SYNC));
  aclrtEvent never = new_event();
  aclrtFuncHandle spin = built_in("spin");
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
  end_right();
}
