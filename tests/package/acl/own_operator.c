/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator of one's own is not called with: a code, and words that name it. */
#include <acl/acl.h>
#include <stdio.h>
#include <string.h>

#include "../require.h"

#define OK(call) EXPECT(ACL_SUCCESS, call)

static aclTensorDesc* tensor(int64_t rows, int64_t columns, aclFormat format) {
  const int64_t sizes[2] = {rows, columns};
  return aclCreateTensorDesc(ACL_FLOAT16, rows == 0 ? 1 : 2, rows == 0 ? sizes + 1 : sizes, format);
}

static aclDataBuffer* buffer(size_t size) {
  void* memory = NULL;
  OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return aclCreateDataBuffer(memory, size);
}

static int told(const char* words) {
  const char* const text = aclGetRecentErrMsg();
  if (text != NULL && strstr(text, words) != NULL) return 1;
  printf("'%s' is not in '%s'\n", words, text == NULL ? "(null)" : text);
  return 0;
}

int main(void) {
  const char* const name = "rms_norm_plus_one";
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  aclrtStream stream = NULL;
  OK(aclrtCreateStream(&stream));
  aclTensorDesc* plain = tensor(4, 64, ACL_FORMAT_ND);
  aclTensorDesc* blocks = tensor(4, 64, ACL_FORMAT_FRACTAL_NZ);
  aclTensorDesc* is[2] = {plain, tensor(0, 64, ACL_FORMAT_ND)};
  aclDataBuffer *data[2] = {buffer(512), buffer(128)}, *out = buffer(512);
  OK(aclopExecuteV2(name, 2, is, data, 1, &plain, &out, NULL, stream));

  is[0] = blocks;
  EXPECT(ACL_ERROR_OP_INPUT_NOT_MATCH,
         aclopExecuteV2(name, 2, is, data, 1, &plain, &out, NULL, stream));
  REQUIRE(told("rms_norm_plus_one: input 0: found format 29; allowed: ACL_FORMAT_ND"));
  REQUIRE(aclGetRecentErrMsg() == NULL);
  is[0] = plain;
  EXPECT(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
         aclopExecuteV2(name, 2, is, data, 1, &blocks, &out, NULL, stream));
  REQUIRE(told("output 0: found format 29"));

  aclopAttr* attributes = aclopCreateAttr();
  OK(aclopSetAttrFloat(attributes, "flavour", 1));
  EXPECT(ACL_ERROR_OP_ATTR_NOT_MATCH,
         aclopExecuteV2(name, 2, is, data, 1, &plain, &out, attributes, stream));
  REQUIRE(told("attribute flavour: no such one; allowed: epsilon, scale, value"));
  for (int text = 0; text < 2; ++text) {
    attributes = aclopCreateAttr();
    OK(aclopSetAttrFloat(attributes, "epsilon", 1));
    if (text) OK(aclopSetAttrString(attributes, "epsilon", "x"));
    if (!text) OK(aclopSetAttrInt(attributes, "epsilon", 1));
    EXPECT(ACL_ERROR_OP_ATTR_NOT_MATCH,
           aclopExecuteV2(name, 2, is, data, 1, &plain, &out, attributes, stream));
    REQUIRE(told("attribute epsilon: found no float; allowed: a float"));
  }
  OK(aclopSetAttrFloat(attributes, "epsilon", 1));
  OK(aclopExecuteV2(name, 2, is, data, 1, &plain, &out, attributes, stream));
  OK(aclrtSynchronizeStream(stream));
  /* npusim's own operators say it, too; and an older text does not come back. */
  EXPECT(ACL_ERROR_OP_ATTR_NOT_MATCH,
         aclopExecuteV2("Relu", 1, is, data, 1, &plain, &out, attributes, stream));
  EXPECT(ACL_ERROR_OP_NOT_FOUND,
         aclopExecuteV2("no_such_one", 1, is, data, 1, &plain, &out, NULL, stream));
  REQUIRE(told("no_such_one"));
  OK(aclrtResetDevice(0));
  OK(aclFinalize());
  puts("right");
  return 0;
}
