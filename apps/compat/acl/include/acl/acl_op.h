/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators (docs/sources/acl.md L8). Those of npusim's kernels (npusim_kernels.h) are
   there, by the vendor's names; the vendor's own library is not modelled. */
#ifndef NPUSIM_ACL_OP_H
#define NPUSIM_ACL_OP_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- What an operator's tensor is: its type, sizes and format; and where it is. A null pointer or
   a negative number of sizes: null. */
typedef struct aclTensorDesc aclTensorDesc;
typedef struct aclDataBuffer aclDataBuffer;
/* At most 8 sizes, none of them negative. */
ACL_FUNC_VISIBILITY aclTensorDesc* aclCreateTensorDesc(aclDataType type, int count,
                                                       const int64_t* sizes, aclFormat format);
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc* tensor);
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc* tensor);
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc* tensor);
/* Bytes; 0: null, or a type without a size. */
ACL_FUNC_VISIBILITY size_t aclGetTensorDescSize(const aclTensorDesc* tensor);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescElementCount(const aclTensorDesc* tensor);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc* tensor);
/* 100000: it has not so many. */
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc* tensor, size_t index,
                                                   int64_t* size);
/* Of device memory, or of no bytes. */
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* buffer);
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* buffer, void* data, size_t size);
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* buffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer);

/* --- Attributes, by name. 100000: null. */
typedef struct aclopAttr aclopAttr;
ACL_FUNC_VISIBILITY aclopAttr* aclopCreateAttr(void);
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr* attributes);
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr* attributes, const char* name,
                                              uint8_t value);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr* attributes, const char* name,
                                             int64_t value);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr* attributes, const char* name,
                                               float value);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr* attributes, const char* name,
                                                const char* value);

/* --- Operators, on as many cores as the stream may use, in the stream's order. Types are
   ACL_FLOAT, ACL_FLOAT16 and ACL_BF16, those of all tensors of an operator the same; formats ND,
   NCHW, NHWC, which are not looked at.
   - Add, Sub, Mul, Maximum, Minimum: two tensors of the same sizes, and the result's.
   - Relu, Exp, Identity, TensorMove: one tensor, and the result's sizes.
   - MatMul, MatMulV2: m x k and k x n, row by row, the result m x n; of ACL_INT8 it is ACL_INT32.
     Attributes transpose_x1 and transpose_x2 are false.
   - Any other name: an operator that is described in a folder of NPUSIM_OPERATORS_PATH
     (docs/own-operators.md), with its inputs and outputs in the order of the description. It is
     compiled when it is first called. Attributes are floats: epsilon, scale, value. Vector or cube
     cores alone: one on both is 207000, as what the operator refuses.
   100024: no such operator; 100021, 100022: another number of inputs or outputs, or their types or
   sizes; 100023: an attribute that the operator has not; 100027: another format, of one's own
   operators 100021, 100022; 100000: a null pointer, or a buffer that is smaller than its tensor.
   Results without elements: nothing to do. */
ACL_FUNC_VISIBILITY aclError aclopExecuteV2(const char* name, int input_count,
                                            aclTensorDesc* input_tensors[], aclDataBuffer* inputs[],
                                            int output_count, aclTensorDesc* output_tensors[],
                                            aclDataBuffer* outputs[], aclopAttr* attributes,
                                            void* stream);
typedef enum { ACL_ENGINE_SYS = 0, ACL_ENGINE_AICORE = 1, ACL_ENGINE_VECTOR = 2 } aclopEngineType;
typedef enum { ACL_COMPILE_SYS = 0, ACL_COMPILE_UNREGISTERED = 1 } aclopCompileType;
/* The same; nothing needs to be compiled. `engine`, `compile` and `path` are not looked at. */
ACL_FUNC_VISIBILITY aclError aclopCompileAndExecute(
    const char* name, int input_count, const aclTensorDesc* const input_tensors[],
    const aclDataBuffer* const inputs[], int output_count,
    const aclTensorDesc* const output_tensors[], aclDataBuffer* const outputs[],
    const aclopAttr* attributes, aclopEngineType engine, aclopCompileType compile, const char* path,
    void* stream);

/* --- Not modelled: 200001. */
ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char* folder);
ACL_FUNC_VISIBILITY aclError aclopLoad(const void* model, size_t size);

#ifdef __cplusplus
}
#endif
#endif
