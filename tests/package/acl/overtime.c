/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that run longer than they may are ended, and the stream's next wait says so. Times are
   simulated. */
#include "check.h"
#include "spin.h"

/* What holds now, in milliseconds. */
static uint32_t limit(void) {
  uint32_t milliseconds = 0;
  OK(aclrtGetOpExecuteTimeout(&milliseconds));
  return milliseconds;
}

static void check_values(uint64_t interval) {
  const uint64_t longest = 254 * interval;
  uint64_t actual = 0;
  REQUIRE(interval > 4000000 && limit() == longest / 1000);
  OK(aclrtSetOpExecuteTimeOutV2(interval + 1, &actual));
  REQUIRE(actual == 2 * interval && limit() == 2 * interval / 1000);
  OK(aclrtSetOpExecuteTimeOut(1));
  REQUIRE(limit() == interval / 1000);
  OK(aclrtSetOpExecuteTimeOutWithMs(10000));
  REQUIRE(limit() == 3 * interval / 1000);
  OK(aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
  REQUIRE(actual == longest);
  OK(aclrtSetOpExecuteTimeOut(547));
  REQUIRE(limit() == 128 * interval / 1000);
  OK(aclrtSetOpExecuteTimeOut(0));
  REQUIRE(limit() == longest / 1000);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(1, NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(NULL));
}

int main(void) {
  open_device();
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtFuncHandle kernel = built_in("spin");
  uint64_t interval = 0;
  OK(aclrtGetOpTimeOutInterval(&interval));
  check_values(interval);
  const uint32_t late = (uint32_t)(interval / 1000 * 11 / 10); /* ms */
  OK(aclrtSetOpExecuteTimeOut(1));
  spin(kernel, stream, late * 1000);
  EXPECT(ACL_ERROR_RT_AICORE_TIMEOUT, aclrtSynchronizeStream(stream));
  /* The limit is the launch's: it holds for those of the call's time. */
  spin(kernel, stream, late * 1000);
  OK(aclrtSetOpExecuteTimeOut(0));
  spin(kernel, other, late * 1000);
  EXPECT(ACL_ERROR_RT_AICORE_TIMEOUT, aclrtSynchronizeStream(stream));
  OK(aclrtSynchronizeStream(other));
  spin(kernel, stream, 10);
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtDestroyStream(stream));
  OK(aclrtDestroyStream(other));
  return end_right();
}
