/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver does without (driver.features of the machine): refused by its documented code. */
#include <ascend_hal.h>
#include <string.h>

#include "check.h"

#define PAGE ((size_t)2 << 20)

static int off(const char* feature, int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], feature) == 0) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
  return ACL_SUCCESS;
}

int main(int count, char** words) {
  const aclrtMemManagedLocation card = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
  void *managed = NULL, *reserved = NULL;
  struct drv_process_status_output out = {0, {0}};
  open_device();
  aclrtStream stream = new_stream();
  EXPECT(off("managed", count, words), aclrtMemAllocManaged(&managed, PAGE, 1));
  if (managed != NULL) {
    EXPECT(off("prefetch", count, words),
           aclrtMemManagedPrefetchAsync(managed, PAGE, card, 0, stream));
    EXPECT(off("advice", count, words), aclrtMemManagedAdvise(managed, PAGE, 0, card));
    OK(aclrtFree(managed));
  }
  EXPECT(off("reserve", count, words), aclrtReserveMemAddress(&reserved, PAGE, 0, NULL, 0));
  if (reserved != NULL) OK(aclrtReleaseMemAddress(reserved));
  EXPECT(off("limits", count, words), aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 4));
  EXPECT(off("limits", count, words),
         aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 4));
  REQUIRE((halCheckProcessStatusEx(0, PROCESS_CP1, STATUS_SVM_PAGE_FALUT_ERR_CNT, &out) ==
           DRV_ERROR_NOT_SUPPORT) == (off("counter", count, words) != ACL_SUCCESS));
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  return end_right();
}
