/* SPDX-License-Identifier: Apache-2.0 */
/* A chip whose runtime offers no managed memory. */
#include "check.h"

int main(void) {
  void* managed = NULL;
  open_device();
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemAllocManaged(&managed, 4096, 1));
  REQUIRE(managed == NULL);
  return end_right();
}
