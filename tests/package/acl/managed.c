/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: copied, advised, prefetched, used by a kernel. */

#include "spin.h"

#define COUNT 1000
#define ALL ((size_t)3 << 40)

int main(void) {
  float values[COUNT];
  void* managed = NULL;
  int32_t attribute = 0;
  const aclrtMemManagedLocation card = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
  aclrtPtrAttributes pointer;
  open_device();
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemAllocManaged(&managed, sizeof values, 2));
  OK(aclrtMemAllocManaged(&managed, sizeof values, 1));
  OK(aclrtPointerGetAttributes(managed, &pointer));
  REQUIRE(pointer.location.type == ACL_MEM_LOCATION_TYPE_MANAGED);
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  OK(aclrtMemcpy(managed, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemManagedAdvise(managed, sizeof values, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, card));
  OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, sizeof values,
                            &attribute, sizeof attribute));
  REQUIRE(attribute == 0);
  aclrtStream stream = new_stream();
  OK(aclrtMemManagedPrefetchAsync(managed, sizeof values, card, 0, stream));
  OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, managed,
                            sizeof values, &attribute, sizeof attribute));
  REQUIRE(attribute == ACL_MEM_LOCATIONTYPE_DEVICE);
  aclrtFuncHandle add = built_in("add");
  const uint64_t at = (uint64_t)managed;
  const npusim_elementwise_args twice = {at, at, at, COUNT, ACL_FLOAT};
  OK(aclrtLaunchKernel(add, 1, &twice, sizeof twice, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(values, sizeof values, managed, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < COUNT; ++i) REQUIRE(values[i] == 2 * (float)i);
  OK(aclrtFree(managed));
  /* All the addresses that there are. */
  char* all = managed_memory(ALL);
  all[0] = all[ALL / 2] = all[ALL - 1] = 7;
  REQUIRE(all[0] + all[ALL / 2] + all[ALL - 1] == 21);
  EXPECT(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, aclrtMemAllocManaged(&managed, 1, 1));
  OK(aclrtFree(all));
  OK(aclrtMemAllocManaged(&managed, 1, 1));
  return end_right();
}
