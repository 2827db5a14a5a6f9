/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels read and write host memory in place. Times are simulated. */
#include <string.h>

#include "check.h"
#include "spin.h"

enum {
  kCount = 1 << 18,
  kBytes = kCount * 4
}; /* fp32, 1 MiB: the link takes longer than the kernel */

struct Sum {
  float *to, *a, *b;
};

static float time_of(const struct Sum* sum, size_t count, aclrtFuncHandle kernel,
                     aclrtStream stream) {
  float milliseconds = 0;
  aclrtEvent begin = new_event(), end = new_event();
  npusim_elementwise_args words = {(uint64_t)sum->to, (uint64_t)sum->a, (uint64_t)sum->b, count,
                                   ACL_FLOAT};
  OK(aclrtRecordEvent(begin, stream));
  OK(aclrtLaunchKernel(kernel, 8, &words, sizeof words, stream));
  OK(aclrtRecordEvent(end, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtDestroyEvent(begin));
  OK(aclrtDestroyEvent(end));
  return milliseconds;
}

static void fill(const struct Sum* sum, float factor) {
  for (int i = 0; i < kCount; ++i) {
    sum->a[i] = (float)i;
    sum->b[i] = factor * (float)(i % 1000);
    sum->to[i] = -1;
  }
}
static void check(const struct Sum* sum, float factor, size_t count) {
  for (size_t i = 0; i < kCount; ++i) {
    REQUIRE(sum->to[i] == (i < count ? (float)i + factor * (float)(i % 1000) : -1));
  }
}

/* Where kernels reach what `host` has. */
static struct Sum reached(const struct Sum* host) {
  struct Sum there;
  OK(aclrtHostGetDevicePointer(host->to, (void**)&there.to, 0));
  OK(aclrtHostGetDevicePointer(host->a, (void**)&there.a, 0));
  OK(aclrtHostGetDevicePointer(host->b, (void**)&there.b, 0));
  return there;
}

static void refuses(float* registered) {
  void* there = NULL;
  float local = 0;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(&local, &there, 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(registered, &there, 1));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtHostGetDevicePointer(registered, NULL, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostRegisterV2(registered, kBytes, ACL_HOST_REG_MAPPED));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtHostRegisterV2(registered + 4, kBytes, ACL_HOST_REG_MAPPED));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtHostRegisterV2(registered, kBytes, ACL_HOST_REG_READONLY));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(registered + 4));
}

/* Copies take the device's address as they do memory of the device. */
static void copies(const struct Sum* host, const struct Sum* there, float* device) {
  memset(host->to, 0, kBytes);
  OK(aclrtMemcpy(device, kBytes, there->a, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  OK(aclrtMemcpy(there->to, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  REQUIRE(memcmp(host->to, host->a, kBytes) == 0);
  OK(aclrtMemset(there->to, kBytes, 0, 4096));
  REQUIRE(host->to[0] == 0 && host->to[1023] == 0 && host->to[1024] == 1024);
}

int main(void) {
  open_device();
  aclrtStream stream = new_stream();
  const aclrtFuncHandle kernel = built_in("add");
  const struct Sum host = {pinned_memory(kBytes), pinned_memory(kBytes), malloc(kBytes)};
  float* const device = device_memory(3 * (size_t)kBytes);
  OK(aclrtHostRegisterV2(host.to, kBytes, ACL_HOST_REG_MAPPED));
  OK(aclrtHostRegisterV2(host.a, kBytes, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
  void* b = NULL;
  OK(aclrtHostRegister(host.b, kBytes, 0, &b));
  refuses(host.to);
  const struct Sum there = reached(&host);
  REQUIRE(there.b == b && (void*)there.b != (void*)host.b);
  fill(&host, 3);
  const float far = time_of(&there, kCount, kernel, stream);
  check(&host, 3, kCount);
  fill(&host, 5);
  time_of(&there, 777, kernel, stream); /* not whole lines */
  check(&host, 5, 777);
  const struct Sum near = {device, device + kCount, device + 2 * kCount};
  time_of(&near, kCount, kernel, stream);
  const float close = time_of(&near, kCount, kernel, stream);
  fprintf(stderr, "%f ms over the link, %f ms in device memory\n", far, close);
  /* 2 MiB one way, 1 MiB the other, at most 31.5 GB/s each. */
  REQUIRE(far > 0.066f && far < 0.14f && close < 0.02f);
  copies(&host, &there, device);
  /* Of two registered parts of one memory the other stays. */
  OK(aclrtHostRegisterV2(host.a + kCount / 2, kBytes / 2, ACL_HOST_REG_MAPPED));
  OK(aclrtHostUnregister(host.a + kCount / 2));
  fill(&host, 9);
  time_of(&there, kCount, kernel, stream);
  check(&host, 9, kCount);
  /* Once more where it was, until it is not registered: then the kernel faults. */
  OK(aclrtHostUnregister(host.a));
  OK(aclrtHostRegisterV2(host.a, kBytes, ACL_HOST_REG_MAPPED));
  const struct Sum again = reached(&host);
  fill(&host, 7);
  time_of(&again, kCount, kernel, stream);
  check(&host, 7, kCount);
  OK(aclrtHostUnregister(host.b));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostGetDevicePointer(host.b, &b, 0));
  npusim_elementwise_args words = {(uint64_t)again.to, (uint64_t)again.a, (uint64_t)again.b, kCount,
                                   ACL_FLOAT};
  OK(aclrtLaunchKernel(kernel, 8, &words, sizeof words, stream));
  REQUIRE(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
  OK(aclrtFreeHost(host.a)); /* with what is registered of it */
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtHostUnregister(host.a));
  free(host.b);
  return end_right();
}
