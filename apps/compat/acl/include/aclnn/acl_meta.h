/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and scalars of the operators in two steps (aclnnop). npusim has two of these, in
   libascendcl and libacl_rt. */
#ifndef NPUSIM_ACLNN_META_H
#define NPUSIM_ACLNN_META_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t aclnnStatus;
#define ACLNN_SUCCESS 0
#define ACLNN_ERR_PARAM_NULLPTR 161001
#define ACLNN_ERR_PARAM_INVALID 161002

typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclOpExecutor aclOpExecutor;

/* Null: a null pointer, more than 8 sizes, a negative one, an offset or strides of another order
   than row by row without gaps. `storage_sizes` are not looked at. */
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* sizes, uint64_t count,
                                               aclDataType type, const int64_t* strides,
                                               int64_t offset, aclFormat format,
                                               const int64_t* storage_sizes, uint64_t storage_count,
                                               void* data);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);
/* Of ACL_FLOAT; null: of another type. */
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType type);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

#ifdef __cplusplus
}
#endif
#endif
