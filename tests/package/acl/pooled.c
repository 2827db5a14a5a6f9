/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of device memory: what a stream has freed is its next allocation; another stream waits for
   it or has other memory; what is beyond the threshold goes back. */
#include <acl/acl_rt_memory_soma.h>
#include <string.h>

#include "check.h"

enum { kMiB = 1 << 20, kBytes = 4 << 20 };

static uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr which) {
  uint64_t value = 0;
  OK(aclrtMemPoolGetAttr(pool, which, &value));
  return value;
}

static void* block(aclrtMemPool pool, aclrtStream stream) {
  void* address = NULL;
  OK(aclrtMemPoolMallocAsync(&address, kBytes, pool, stream));
  return address;
}

static void set(aclrtMemPool pool, aclrtMemPoolAttr which, uint64_t value) {
  OK(aclrtMemPoolSetAttr(pool, which, &value));
}

int main(void) {
  open_device();
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtMemPoolProps props;
  memset(&props, 0, sizeof props);
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  props.maxSize = 16 * kMiB;
  aclrtMemPool pool = NULL;
  aclrtNotify gate = NULL;
  uint64_t value = 1;
  unsigned char* host = pinned_memory(kBytes);
  void* too_much = NULL;
  OK(aclrtCreateNotify(&gate, 0));
  props.reserved[3] = 1;
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, &props));
  props.reserved[3] = 0;
  props.location.id = 99;
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
  props.location.id = 0;
  OK(aclrtMemPoolCreate(&pool, &props));
  const size_t before = free_memory();
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value));
  set(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 16 * kMiB);

  /* In one stream's order, without a wait. */
  void* first = block(pool, stream);
  OK(aclrtMemsetAsync(first, kBytes, 1, kBytes, stream));
  OK(aclrtMemcpyAsync(host, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtMemPoolFreeAsync(first, stream));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(first, stream));
  void* second = block(pool, stream);
  REQUIRE(second == first);
  OK(aclrtMemsetAsync(second, kBytes, 2, kBytes, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(host[0] == 1 && host[kBytes - 1] == 1);
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == kBytes);
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == kBytes);

  /* Another stream may not have it before the first has come to its free. */
  set(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 0);
  OK(aclrtWaitAndResetNotify(gate, stream, 0));
  OK(aclrtMemPoolFreeAsync(second, stream));
  void* third = block(pool, other);
  REQUIRE(third != second);
  set(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 1);
  void* fourth = block(pool, other); /* it waits */
  REQUIRE(fourth == second);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtMemsetAsync(fourth, kBytes, 3, kBytes, other));
  OK(aclrtStreamQuery(other, &status));
  REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtRecordNotify(gate, new_stream()));
  OK(aclrtSynchronizeStream(other));

  /* 16 MiB at most; what is free goes when it must. */
  void* fifth = block(pool, stream);
  void* sixth = block(pool, stream);
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION,
         aclrtMemPoolMallocAsync(&too_much, 1, pool, stream));
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 16 * kMiB);
  OK(aclrtMemPoolFreeAsync(third, other));
  OK(aclrtMemPoolFreeAsync(fourth, other));
  OK(aclrtMemPoolFreeAsync(fifth, stream));
  OK(aclrtMemPoolFreeAsync(sixth, stream));
  OK(aclrtSynchronizeDevice());
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 16 * kMiB);
  OK(aclrtMemPoolMallocAsync(&too_much, 8 * kMiB, pool, stream));
  OK(aclrtMemPoolFreeAsync(too_much, stream));
  set(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 0);
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) == 16 * kMiB);
  set(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, 0);
  REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) == 0);
  first = block(pool, stream);
  OK(aclrtMemPoolFreeAsync(first, stream));
  OK(aclrtMemPoolTrimTo(pool, kBytes));
  OK(aclrtMemPoolDestroy(pool));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemPoolTrimTo(pool, 0));
  REQUIRE(free_memory() == before);
  return end_right();
}
