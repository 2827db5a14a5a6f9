/* SPDX-License-Identifier: Apache-2.0 */
/* What is brought to the L2 in time is there when a kernel reads it. Times are simulated. */
#include "check.h"
#include "spin.h"

enum { kCount = 1 << 20 }; /* fp32, 4 MiB */

struct Sum {
  void *to, *a, *b;
};

/* What the host has written is not in the L2. */
static void refresh(const struct Sum* sum, const float* host) {
  OK(aclrtMemcpy(sum->a, kCount * 4, host, kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(sum->b, kCount * 4, host, kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE));
}
static void prefetch(const struct Sum* sum, aclrtStream stream) {
  OK(aclrtCmoAsync(sum->a, kCount * 4, ACL_RT_CMO_TYPE_PREFETCH, stream));
  OK(aclrtCmoAsync(sum->b, kCount * 4, ACL_RT_CMO_TYPE_PREFETCH, stream));
}
static void add(const struct Sum* sum, aclrtFuncHandle kernel, aclrtStream stream) {
  npusim_elementwise_args words = {(uint64_t)sum->to, (uint64_t)sum->a, (uint64_t)sum->b, kCount,
                                   ACL_FLOAT};
  OK(aclrtLaunchKernel(kernel, 48, &words, sizeof words, stream));
}
/* Of the kernel alone. */
static float time_of(const struct Sum* sum, aclrtFuncHandle kernel, aclrtStream stream) {
  float milliseconds = 0;
  aclrtEvent begin = NULL, end = NULL;
  OK(aclrtCreateEvent(&begin));
  OK(aclrtCreateEvent(&end));
  OK(aclrtRecordEvent(begin, stream));
  add(sum, kernel, stream);
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtDestroyEvent(begin));
  OK(aclrtDestroyEvent(end));
  return milliseconds;
}

/* The same as a model, by a description. */
static void records(const struct Sum* sum, aclrtFuncHandle kernel, void* description) {
  aclmdlRI model = NULL;
  aclrtStream stream = NULL;
  OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
  OK(aclmdlRIBuildBegin(&model, 0));
  OK(aclmdlRIBindStream(model, stream, ACL_MODEL_STREAM_FLAG_HEAD));
  OK(aclrtCmoAsyncWithDesc(description, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL));
  add(sum, kernel, stream);
  OK(aclmdlRIEndTask(model, stream));
  OK(aclmdlRIBuildEnd(model, NULL));
  OK(aclmdlRIExecute(model, 5000));
  OK(aclmdlRIUnbindStream(model, stream));
  OK(aclmdlRIDestroy(model));
  OK(aclrtDestroyStream(stream));
}

static void refuses(const struct Sum* sum, aclrtStream stream, void* host) {
  size_t size = 0;
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(NULL, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(sum->a, 0, ACL_RT_CMO_TYPE_PREFETCH, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(sum->a, 64, (aclrtCmoType)9, stream));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtCmoAsync(sum->a, 64, ACL_RT_CMO_TYPE_INVALID, stream));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtCmoAsync(host, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtCmoAsync(sum->a, SIZE_MAX, ACL_RT_CMO_TYPE_PREFETCH, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoGetDescSize(NULL));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoSetDesc(NULL, sum->a, 64));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtCmoSetDesc(sum->to, NULL, 64));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtCmoAsyncWithDesc(NULL, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL));
  OK(aclrtCmoGetDescSize(&size));
  REQUIRE(size != 0 && size <= 4096);
}

int main(void) {
  open_device();
  aclrtStream stream = new_stream();
  aclrtFuncHandle kernel = built_in("add");
  struct Sum sum;
  float* host = NULL;
  void* description = NULL;
  OK(aclrtMalloc(&sum.to, kCount * 4, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&sum.a, kCount * 4, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&sum.b, kCount * 4, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMalloc(&description, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocHost((void**)&host, kCount * 4));
  for (int i = 0; i < kCount; ++i) host[i] = (float)i;
  refresh(&sum, host);
  time_of(&sum, kernel, stream); /* the kernel's own code and the tables of pages */
  refresh(&sum, host);
  const float cold = time_of(&sum, kernel, stream);
  const float warm = time_of(&sum, kernel, stream);
  refresh(&sum, host);
  prefetch(&sum, stream);
  const float prefetched = time_of(&sum, kernel, stream);
  fprintf(stderr, "%f cold, %f warm, %f prefetched ms\n", cold, warm, prefetched);
  REQUIRE(warm < 0.8f * cold && prefetched < 1.1f * warm && prefetched > 0.9f * warm);
  refresh(&sum, host);
  OK(aclrtMemset(sum.to, kCount * 4, 0, kCount * 4));
  OK(aclrtCmoSetDesc(description, sum.a, kCount * 4));
  records(&sum, kernel, description);
  OK(aclrtMemcpy(host, kCount * 4, sum.to, kCount * 4, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < kCount; ++i) REQUIRE(host[i] == 2.0f * (float)i);
  refuses(&sum, stream, host);
  OK(aclrtFreeHost(host));
  OK(aclrtFree(description));
  OK(aclrtFree(sum.to));
  OK(aclrtFree(sum.a));
  OK(aclrtFree(sum.b));
  OK(aclrtDestroyStream(stream));
  return end_right();
}
