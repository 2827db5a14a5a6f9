/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm_plus_one by the C API, twice in a stream: y = norm(x), z = norm(y). NPUSIM_OPERATORS_PATH
   names this folder when `npusim exec` is started. */
#include <acl/acl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 5, kColumns = 96 };

#define OK(call)                                                          \
  do {                                                                    \
    const aclError status = (call);                                       \
    if (status == ACL_SUCCESS) break;                                     \
    printf("line %d: %d: %s\n", __LINE__, status, aclGetRecentErrMsg()); \
    exit(1);                                                              \
  } while (0)

/* bfloat16 is the upper half of a float; all numbers here need no more. */
static uint16_t narrow(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static float widen(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static aclDataBuffer* buffer(size_t bytes) {
  void* memory = NULL;
  OK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return aclCreateDataBuffer(memory, bytes);
}

static void norm(float* to, const float* from, const float* weight) {
  double squares = 0;
  for (int i = 0; i < kColumns; ++i) squares += (double)from[i] * from[i];
  const double root = sqrt(squares / kColumns + 1e-5);
  for (int i = 0; i < kColumns; ++i) to[i] = (float)(from[i] / root * (1 + weight[i]));
}

int main(void) {
  static uint16_t x[kRows][kColumns], weight[kColumns], z[kRows][kColumns];
  static float wide[kRows][kColumns], wide_weight[kColumns];
  for (int i = 0; i < kColumns; ++i) {
    wide_weight[i] = (float)(i % 8) / 8;
    weight[i] = narrow(wide_weight[i]);
    for (int row = 0; row < kRows; ++row) {
      wide[row][i] = (float)((i * 7 + row * 13) % 32 - 15) / 4;
      x[row][i] = narrow(wide[row][i]);
    }
  }
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  aclrtStream stream = NULL;
  OK(aclrtCreateStream(&stream));

  const int64_t rows[2] = {kRows, kColumns}, columns[1] = {kColumns};
  aclTensorDesc* of_x = aclCreateTensorDesc(ACL_BF16, 2, rows, ACL_FORMAT_ND);
  aclTensorDesc* of_weight = aclCreateTensorDesc(ACL_BF16, 1, columns, ACL_FORMAT_ND);
  aclTensorDesc* tensors[2] = {of_x, of_weight};
  aclDataBuffer* all[3] = {buffer(sizeof x), buffer(sizeof weight), buffer(sizeof z)};
  OK(aclrtMemcpy(aclGetDataBufferAddr(all[0]), sizeof x, x, sizeof x, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(aclGetDataBufferAddr(all[1]), sizeof weight, weight, sizeof weight,
                 ACL_MEMCPY_HOST_TO_DEVICE));
  aclopAttr* attributes = aclopCreateAttr();
  OK(aclopSetAttrFloat(attributes, "epsilon", 1e-5F));
  OK(aclopExecuteV2("rms_norm_plus_one", 2, tensors, all, 1, &of_x, &all[2], attributes, stream));
  aclDataBuffer* again[2] = {all[2], all[1]};
  OK(aclopExecuteV2("rms_norm_plus_one", 2, tensors, again, 1, &of_x, &all[0], attributes, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtMemcpy(z, sizeof z, aclGetDataBufferAddr(all[0]), sizeof z, ACL_MEMCPY_DEVICE_TO_HOST));

  for (int row = 0; row < kRows; ++row) {
    float once[kColumns], twice[kColumns];
    norm(once, wide[row], wide_weight);
    norm(twice, once, wide_weight);
    for (int i = 0; i < kColumns; ++i) {
      if (fabsf(widen(z[row][i]) - twice[i]) <= 0.02F * fabsf(twice[i])) continue;
      printf("row %d, column %d: %f, expected %f\n", row, i, widen(z[row][i]), twice[i]);
      return 1;
    }
  }
  /* What does not fit is refused. */
  aclDataBuffer* one[1] = {all[0]};
  if (aclopExecuteV2("rms_norm_plus_one", 1, tensors, one, 1, &of_x, &all[2], NULL, stream) !=
          ACL_ERROR_OP_INPUT_NOT_MATCH ||
      aclopExecuteV2("rms_norm_plus_one", 2, tensors, all, 1, &of_weight, &all[2], NULL, stream) !=
          ACL_ERROR_OP_OUTPUT_NOT_MATCH ||
      aclopExecuteV2("no_such_norm", 2, tensors, all, 1, &of_x, &all[2], NULL, stream) !=
          ACL_ERROR_OP_NOT_FOUND) {
    puts("what does not fit is taken");
    return 1;
  }
  aclopDestroyAttr(attributes);
  for (int i = 0; i < 3; ++i) {
    OK(aclrtFree(aclGetDataBufferAddr(all[i])));
    aclDestroyDataBuffer(all[i]);
  }
  aclDestroyTensorDesc(of_x);
  aclDestroyTensorDesc(of_weight);
  OK(aclrtDestroyStream(stream));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  puts("right");
  return 0;
}
