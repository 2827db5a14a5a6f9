/* SPDX-License-Identifier: Apache-2.0 */
/* Operators in two steps: sums with a factor, products, and what they refuse. */
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

#include "check.h"

enum { kCount = 8, kBytes = kCount * 4 };

static aclTensor* tensor(const float* values, void** memory) {
  const int64_t sizes[] = {4, 2}, strides[] = {2, 1}, gaps[] = {4, 1};
  *memory = device_memory(kBytes);
  OK(aclrtMemcpy(*memory, kBytes, values, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  REQUIRE(aclCreateTensor(sizes, 2, ACL_FLOAT, gaps, 0, ACL_FORMAT_ND, sizes, 2, *memory) == NULL);
  return aclCreateTensor(sizes, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, sizes, 2, *memory);
}

int main(void) {
  const float a[kCount] = {0, 1, 2, 3, 4, 5, 6, 7}, b[kCount] = {1, 1, 1, 2, 2, 2, 3, 3};
  float got[kCount] = {0}, factors[] = {1, 1.5F};
  void *a_memory, *b_memory, *to_memory, *workspace = NULL;
  aclOpExecutor* executor = NULL;
  uint64_t size = 1;
  open_device();
  aclrtStream stream = new_stream();
  aclTensor *first = tensor(a, &a_memory), *second = tensor(b, &b_memory);
  aclTensor* to = tensor(got, &to_memory);
  for (int round = 0; round < 2; ++round) {
    aclScalar* alpha = aclCreateScalar(&factors[round], ACL_FLOAT);
    OK(aclnnAddGetWorkspaceSize(first, second, alpha, to, &size, &executor));
    REQUIRE((size == 0) == (round == 0));
    if (size != 0) workspace = device_memory(size);
    OK(aclnnAdd(workspace, size, executor, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, kBytes, to_memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < kCount; ++i) REQUIRE(got[i] == a[i] + factors[round] * b[i]);
    EXPECT(ACLNN_ERR_PARAM_NULLPTR,
           aclnnAddGetWorkspaceSize(NULL, second, alpha, to, &size, &executor));
    OK(aclDestroyScalar(alpha));
  }
  OK(aclnnMulGetWorkspaceSize(first, second, to, &size, &executor));
  OK(aclnnMul(NULL, size, executor, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(got, kBytes, to_memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < kCount; ++i) REQUIRE(got[i] == a[i] * b[i]);
  OK(aclDestroyTensor(first));
  OK(aclDestroyTensor(second));
  OK(aclDestroyTensor(to));
  OK(aclrtFree(workspace));
  return end_right();
}
