/* SPDX-License-Identifier: Apache-2.0 */
/* Offline models are not modelled: every function returns 200001. */
#ifndef NPUSIM_ACL_MDL_H
#define NPUSIM_ACL_MDL_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclError aclmdlLoadFromFile(const char* path, uint32_t* model);
ACL_FUNC_VISIBILITY aclError aclmdlUnload(uint32_t model);

#ifdef __cplusplus
}
#endif
#endif
