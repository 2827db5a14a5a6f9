/* SPDX-License-Identifier: Apache-2.0 */
/* out = self + alpha * other. The tensors have the same type (ACL_FLOAT, ACL_FLOAT16, ACL_BF16) and
   sizes; an alpha that is not 1 needs ACL_FLOAT. 161001: null; 161002: other tensors. With such an
   alpha the work is three tasks of the stream: a fill, a product and a sum. */
#ifndef NPUSIM_ACLNN_ADD_H
#define NPUSIM_ACLNN_ADD_H

#include <aclnn/acl_meta.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self,
                                                         const aclTensor* other,
                                                         const aclScalar* alpha,
                                                         const aclTensor* out,
                                                         uint64_t* workspace_size,
                                                         aclOpExecutor** executor);
/* The executor ends with the call. 161002: too small a workspace. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAdd(void* workspace, uint64_t workspace_size,
                                         aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
