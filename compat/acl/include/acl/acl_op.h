/* SPDX-License-Identifier: Apache-2.0 */
/* Single operators of the vendor's library are not modelled: every function returns 200001. Kernels
   are loaded and launched instead (acl_rt.h, npusim_kernels.h). */
#ifndef NPUSIM_ACL_OP_H
#define NPUSIM_ACL_OP_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char* folder);
ACL_FUNC_VISIBILITY aclError aclopLoad(const void* model, size_t size);

#ifdef __cplusplus
}
#endif
#endif
