/* SPDX-License-Identifier: Apache-2.0 */
/* out = self * other, of tensors as those of aclnn_add.h. */
#ifndef NPUSIM_ACLNN_MUL_H
#define NPUSIM_ACLNN_MUL_H

#include <aclnn/acl_meta.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnMulGetWorkspaceSize(const aclTensor* self,
                                                         const aclTensor* other,
                                                         const aclTensor* out,
                                                         uint64_t* workspace_size,
                                                         aclOpExecutor** executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnMul(void* workspace, uint64_t workspace_size,
                                         aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
#endif
