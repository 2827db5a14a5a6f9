/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators: what they compute, in a stream's order; what they refuse. */
#include <string.h>

#include "check.h"

#define COUNT 3000

static aclTensorDesc* tensor(aclDataType type, int64_t rows, int64_t columns) {
  const int64_t sizes[2] = {rows, columns};
  aclTensorDesc* const made = aclCreateTensorDesc(type, 2, sizes, ACL_FORMAT_ND);
  REQUIRE(made != NULL);
  return made;
}

static aclDataBuffer* buffer(size_t size) {
  void* memory = device_memory(size);
  return aclCreateDataBuffer(memory, size);
}

static void fill(aclDataBuffer* to, const void* bytes) {
  const size_t size = aclGetDataBufferSizeV2(to);
  OK(aclrtMemcpy(aclGetDataBufferAddr(to), size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void read_back(aclDataBuffer* from, void* bytes) {
  const size_t size = aclGetDataBufferSizeV2(from);
  OK(aclrtMemcpy(bytes, size, aclGetDataBufferAddr(from), size, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void drop(aclDataBuffer* gone) {
  OK(aclrtFree(aclGetDataBufferAddr(gone)));
  OK(aclDestroyDataBuffer(gone));
}

static float expected(const char* name, float a, float b) {
  if (strcmp(name, "Add") == 0) return a + b;
  if (strcmp(name, "Sub") == 0) return a - b;
  if (strcmp(name, "Mul") == 0) return a * b;
  if (strcmp(name, "Maximum") == 0) return a > b ? a : b;
  if (strcmp(name, "Minimum") == 0) return a < b ? a : b;
  if (strcmp(name, "Relu") == 0) return a > 0 ? a : 0;
  return a;
}

static void elementwise(aclrtStream stream) {
  static const char* const names[] = {"Add",     "Sub",  "Mul",      "Maximum",
                                      "Minimum", "Relu", "Identity", "TensorMove"};
  static float a[COUNT], b[COUNT], c[COUNT];
  aclTensorDesc* const is = tensor(ACL_FLOAT, 3, COUNT / 3);
  aclDataBuffer *inputs[2] = {buffer(sizeof a), buffer(sizeof b)}, *output = buffer(sizeof c);
  aclTensorDesc *both[2] = {is, is}, *result = is;
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)(i % 97) - 40;
    b[i] = (float)(i % 31) - 11;
  }
  fill(inputs[0], a);
  fill(inputs[1], b);
  for (size_t name = 0; name < sizeof names / sizeof *names; ++name) {
    OK(aclopExecuteV2(names[name], name < 5 ? 2 : 1, both, inputs, 1, &result, &output, NULL,
                      stream));
    OK(aclrtSynchronizeStream(stream));
    read_back(output, c);
    for (int i = 0; i < COUNT; ++i) REQUIRE(c[i] == expected(names[name], a[i], b[i]));
  }
  /* Behind each other, without a wait between: ((a + b) + b) + b. */
  aclDataBuffer* chain[2] = {output, inputs[1]};
  OK(aclopExecuteV2("Add", 2, both, inputs, 1, &result, &output, NULL, stream));
  OK(aclopExecuteV2("Add", 2, both, chain, 1, &result, &output, NULL, stream));
  OK(aclopCompileAndExecute("Add", 2, (const aclTensorDesc* const*)both,
                            (const aclDataBuffer* const*)chain, 1,
                            (const aclTensorDesc* const*)&result, &output, NULL, ACL_ENGINE_SYS,
                            ACL_COMPILE_SYS, NULL, stream));
  OK(aclrtSynchronizeStream(stream));
  read_back(output, c);
  for (int i = 0; i < COUNT; ++i) REQUIRE(c[i] == a[i] + 3 * b[i]);
  drop(inputs[0]);
  drop(inputs[1]);
  drop(output);
  aclDestroyTensorDesc(is);
}

static void products(aclrtStream stream) {
  enum { M = 20, K = 48, N = 36 };
  static signed char a[M * K], b[K * N];
  static int32_t c[M * N];
  aclTensorDesc* is[2] = {tensor(ACL_INT8, M, K), tensor(ACL_INT8, K, N)};
  aclTensorDesc* result = tensor(ACL_INT32, M, N);
  aclDataBuffer *inputs[2] = {buffer(sizeof a), buffer(sizeof b)}, *output = buffer(sizeof c);
  aclopAttr* const attributes = aclopCreateAttr();
  for (int i = 0; i < M * K; ++i) a[i] = (signed char)(i % 11 - 5);
  for (int i = 0; i < K * N; ++i) b[i] = (signed char)(i % 7 - 3);
  fill(inputs[0], a);
  fill(inputs[1], b);
  OK(aclopSetAttrBool(attributes, "transpose_x1", 0));
  OK(aclopExecuteV2("MatMulV2", 2, is, inputs, 1, &result, &output, attributes, stream));
  OK(aclrtSynchronizeStream(stream));
  read_back(output, c);
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      int32_t sum = 0;
      for (int k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
      REQUIRE(c[m * N + n] == sum);
    }
  }
  OK(aclopSetAttrBool(attributes, "transpose_x2", 1));
  EXPECT(ACL_ERROR_OP_ATTR_NOT_MATCH,
         aclopExecuteV2("MatMul", 2, is, inputs, 1, &result, &output, attributes, stream));
  aclopDestroyAttr(attributes);
  EXPECT(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
         aclopExecuteV2("MatMul", 2, is, inputs, 1, is, &output, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclopExecuteV2("MatMul", 2, is, inputs, 1, &result, inputs, NULL, stream));
  is[1] = is[0];
  EXPECT(ACL_ERROR_OP_INPUT_NOT_MATCH,
         aclopExecuteV2("MatMul", 2, is, inputs, 1, &result, &output, NULL, stream));
}

static void misuse(aclrtStream stream) {
  const int64_t sizes[2] = {4, -1}, large[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  aclTensorDesc* is[2] = {tensor(ACL_FLOAT, 4, 4), tensor(ACL_FLOAT, 4, 5)};
  aclTensorDesc *empty = tensor(ACL_FLOAT, 0, 4), *whole = tensor(ACL_INT32, 4, 4);
  aclTensorDesc* blocks = aclCreateTensorDesc(ACL_FLOAT, 1, large, ACL_FORMAT_FRACTAL_NZ);
  aclDataBuffer* data[2] = {buffer(64), buffer(80)};
  aclDataBuffer *none = NULL, *small = aclCreateDataBuffer(aclGetDataBufferAddr(data[0]), 60);
  int64_t size = 0;
  REQUIRE(aclCreateTensorDesc(ACL_FLOAT, 2, sizes, ACL_FORMAT_ND) == NULL);
  REQUIRE(aclCreateTensorDesc(ACL_FLOAT, 2, large, ACL_FORMAT_ND) == NULL);
  REQUIRE(aclCreateTensorDesc(ACL_FLOAT, 9, NULL, ACL_FORMAT_ND) == NULL);
  REQUIRE(aclGetTensorDescSize(is[0]) == 64 && aclGetTensorDescElementCount(is[1]) == 20);
  REQUIRE(aclGetTensorDescType(is[0]) == ACL_FLOAT && aclGetTensorDescNumDims(is[0]) == 2);
  REQUIRE(aclGetTensorDescFormat(blocks) == ACL_FORMAT_FRACTAL_NZ);
  OK(aclGetTensorDescDimV2(is[1], 1, &size));
  REQUIRE(size == 5);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(is[1], 2, &size));
  EXPECT(ACL_ERROR_OP_NOT_FOUND, aclopExecuteV2("Conv2D", 1, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2(NULL, 1, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclopExecuteV2("Add", 1 << 30, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2("Add", -1, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2("Relu", -1, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2("Relu", 1, is, NULL, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2("Relu", 1, is, &none, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclopExecuteV2("Relu", 1, is, &small, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_OP_INPUT_NOT_MATCH,
         aclopExecuteV2("Relu", 2, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_OP_INPUT_NOT_MATCH,
         aclopExecuteV2("Add", 2, is, data, 1, is, data, NULL, stream));
  EXPECT(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
         aclopExecuteV2("Relu", 1, is, data, 2, is, data, NULL, stream));
  EXPECT(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
         aclopExecuteV2("Relu", 1, is, data, 1, &is[1], &data[1], NULL, stream));
  EXPECT(ACL_ERROR_OP_INPUT_NOT_MATCH,
         aclopExecuteV2("Relu", 1, &whole, data, 1, &whole, data, NULL, stream));
  EXPECT(ACL_ERROR_FORMAT_NOT_MATCH,
         aclopExecuteV2("Relu", 1, &blocks, data, 1, &blocks, data, NULL, stream));
  OK(aclopExecuteV2("Nothing", 0, NULL, NULL, 1, &empty, NULL, NULL, stream));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE,
         aclopExecuteV2("Relu", 1, is, data, 1, is, data, NULL, (aclrtStream)data[0]));
}

int main(void) {
  aclrtStream stream = NULL;
  for (int life = 0; life < 2; ++life) { /* handles of the first one have gone in the second */
    const aclError begun = aclInit(NULL);
    REQUIRE(begun == ACL_SUCCESS);
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    elementwise(stream);
    products(stream);
    misuse(stream);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
  }
  puts("right");
  return 0;
}
