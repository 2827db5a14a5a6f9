/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that reach for managed memory which nobody has allocated: each fails, is counted, and the
   machine warns of too many (driver.fault_warning_errors, driver.fault_warning_window_ms).
   page_faults TIMES [FIFO, which it reads before it goes on to its end] */
#include <ascend_hal.h>
#include <fcntl.h>
#include <unistd.h>

#include "spin.h"

#define PAGE ((uint64_t)2 << 20)

static unsigned errors(void) {
  struct drv_process_status_output out = {0, {0}};
  REQUIRE(halCheckProcessStatusEx(0, PROCESS_CP1, STATUS_SVM_PAGE_FALUT_ERR_CNT, &out) ==
          DRV_ERROR_NONE);
  return out.result;
}

int main(int count, char** words) {
  const int times = count > 1 ? atoi(words[1]) : 1;
  open_device();
  void* managed = managed_memory(PAGE);
  void* plain = device_memory(PAGE);
  aclrtFuncHandle copy = built_in("copy");
  for (int i = 0; i < times; ++i) {
    const npusim_elementwise_args bad = {(uint64_t)plain, (uint64_t)managed + 64 * PAGE, 0, 64,
                                         ACL_FLOAT};
    aclrtStream stream = NULL;
    OK(aclrtCreateStream(&stream));
    OK(aclrtLaunchKernel(copy, 1, &bad, sizeof bad, stream));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
    OK(aclrtDestroyStream(stream));
    REQUIRE(errors() >= (unsigned)i + 1);
    usleep(15000);
  }
  if (count > 2) REQUIRE(open(words[2], O_RDONLY) >= 0);
  OK(aclrtFree(managed));
  OK(aclrtFree(plain));
  OK(aclrtResetDevice(0));
  return end_right();
}
