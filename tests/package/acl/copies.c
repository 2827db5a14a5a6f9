/* SPDX-License-Identifier: Apache-2.0 */
/* Every way of copying: kinds, pieces larger than a window, rows, host memory of the card's. */
#include <string.h>

#include "check.h"

#define SIZE ((size_t)70 << 20)

static void fill(unsigned char* bytes, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)(i * 7 + i / 4093 + seed);
}

static void large(void* a, void* b) {
  unsigned char* const from = malloc(SIZE);
  unsigned char* const to = calloc(1, SIZE);
  fill(from, SIZE, 1);
  OK(aclrtMemcpy(a, SIZE, from, SIZE, ACL_MEMCPY_DEFAULT));
  OK(aclrtMemcpy(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
  OK(aclrtMemcpy(to, SIZE, b, SIZE, ACL_MEMCPY_DEFAULT));
  REQUIRE(memcmp(from, to, SIZE) == 0);
  free(from);
  free(to);
}

static void pinned(void* a) {
  const size_t size = (size_t)1 << 20;
  aclrtStream stream = new_stream();
  unsigned char* from = pinned_memory(size);
  unsigned char* to = pinned_memory(size);
  fill(from, size, 2);
  OK(aclrtMemcpyAsync(a, size, from + 5, size - 5, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtMemcpyAsync(to, size, a, size - 5, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(memcmp(from + 5, to, size - 5) == 0);
  OK(aclrtFreeHost(from));
  OK(aclrtFreeHost(to));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(to));
  OK(aclrtDestroyStream(stream));
}

static void rows(void* a) {
  unsigned char from[4][64], to[4][16];
  fill(from[0], sizeof from, 3);
  OK(aclrtMemcpy2d(a, 32, from, 64, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy2d(to, 16, a, 32, 16, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int row = 0; row < 4; ++row) REQUIRE(memcmp(from[row], to[row], 16) == 0);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemcpy2d(to, 8, a, 32, 16, 4, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void filled(void* a) {
  unsigned char back[64];
  OK(aclrtMemset(a, 64, 0x11, 64));
  OK(aclrtMemset((char*)a + 3, 61, 0x5A, 50));
  OK(aclrtMemcpy(back, sizeof back, a, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < 64; ++i) REQUIRE(back[i] == (i >= 3 && i < 53 ? 0x5A : 0x11));
}

/* Two copies down and one up in one call; nothing is copied if one is not what its attribute says.
 */
static void batches(void* a, void* b) {
  int first[4] = {1, 2, 3, 4}, second = 5, back[4] = {0};
  void *to[3] = {a, b, back}, *from[3] = {first, &second, a};
  size_t sizes[3] = {sizeof first, sizeof second, sizeof back}, starts[2] = {0, 2}, failed = 7;
  aclrtMemcpyBatchAttr places[2] = {{{0}, {0}, {0}}};
  places[0].dstLoc.type = places[1].srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtStream stream = new_stream();
  OK(aclrtMemcpyBatch(to, sizes, from, sizes, 3, places, starts, 2, &failed));
  REQUIRE(failed == SIZE_MAX && memcmp(first, back, sizeof back) == 0);
  first[0] = 6;
  OK(aclrtMemcpyBatchAsyncV2(to, sizes, from, sizes, 3, places, starts, 2, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(memcmp(first, back, sizeof back) == 0);
  first[0] = 7;
  to[1] = &second;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtMemcpyBatchAsync(to, sizes, from, sizes, 3, places, starts, 2, &failed, stream));
  REQUIRE(failed == 1);
  places[1].dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  to[1] = b;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtMemcpyBatch(to, sizes, from, sizes, 3, places, starts, 2, &failed));
  REQUIRE(failed == 2);
  OK(aclrtMemcpy(back, sizeof back, a, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(back[0] == 6);
  starts[1] = 0;
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtMemcpyBatchV2(to, sizes, from, sizes, 3, places, starts, 2));
  OK(aclrtDestroyStream(stream));
}

/* Memory that is given back behind the copies that use it. */
static void behind_the_device(void* a) {
  const size_t size = (size_t)1 << 20;
  aclrtStream stream = new_stream();
  unsigned char *from = pinned_memory(size), *to = pinned_memory(size);
  void* between = device_memory(size);
  void* both[2] = {a, between};
  uint32_t all = 7;
  OK(aclrtCheckMemType(both, 2, ACL_RT_MEM_TYPE_DEV, &all, 0));
  REQUIRE(all == 1);
  both[1] = from;
  OK(aclrtCheckMemType(both, 2, ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP, &all, 0));
  REQUIRE(all == 0);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCheckMemType(both, 2, 1, &all, 0));
  fill(from, size, 4);
  OK(aclrtMemcpyAsync(between, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclrtFreeHostWithDevSync(from));
  OK(aclrtMemcpyAsync(to, size, between, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtFreeWithDevSync(between));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(between));
  for (size_t i = 0; i < size; ++i) REQUIRE(to[i] == (unsigned char)(i * 7 + i / 4093 + 4));
  OK(aclrtFreeHost(to));
  OK(aclrtDestroyStream(stream));
}

int main(void) {
  void* b = NULL;
  open_device();
  void* a = device_memory(SIZE);
  OK(aclrtMallocAlign32(&b, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
  large(a, b);
  pinned(a);
  rows(a);
  filled(a);
  batches(a, b);
  behind_the_device(a);
  OK(aclrtFree(a));
  OK(aclrtFree(b));
  return end_right();
}
