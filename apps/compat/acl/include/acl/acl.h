/* SPDX-License-Identifier: Apache-2.0 */
/* The whole ACL, and its life (docs/sources/acl.md L1, L4). */
#ifndef NPUSIM_ACL_H
#define NPUSIM_ACL_H

#include <acl/acl_base.h>
#include <acl/acl_mdl.h>
#include <acl/acl_op.h>
#include <acl/acl_rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `config_path` is a JSON file or null and is not looked at. A second call returns 100002, and
   counts for aclFinalizeReference(). 507899: the program does not run under `npusim exec`. */
ACL_FUNC_VISIBILITY aclError aclInit(const char* config_path);
/* Everything of the program is given back. 100001: aclInit() was never called; 100037: a second
   call. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);
/* Takes one aclInit() back, the last of them as aclFinalize(). `count` (may be null) is how many
   are left. */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* count);
/* What the calling thread's last failed call was about; null if none failed since the last call of
   this function. The text is the thread's until its next call of this function. */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch);
/* Bytes of an element; 0: none of the types. */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType type);

#ifdef __cplusplus
}
#endif
#endif
