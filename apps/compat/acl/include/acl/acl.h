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

/* `config_path` is a JSON file or null; a file that is not there is as null. Of the file what
   acl/acl_dump.h says is looked at. 100003: it is no JSON object. A second call returns 100002, and
   counts for aclFinalizeReference(). 507899: the program does not run under `npusim exec`. */
ACL_FUNC_VISIBILITY aclError aclInit(const char* config_path);
/* Everything of the program is given back. 100001: aclInit() was never called; 100037: a second
   call. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);
/* Takes one aclInit() back, the last of them as aclFinalize(). `count` (may be null) is how many
   are left. */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* count);
/* Functions that are called by the first aclInit() and by the last aclFinalize(), in the order in
   which they were registered; at once, if the program is initialised. What they return is what the
   call returns, if it is not 0. Only ACL_REG_TYPE_OTHER has several; 500000: a second one of another
   type. */
typedef enum {
  ACL_REG_TYPE_ACL_MODEL = 0,
  ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
  ACL_REG_TYPE_ACL_OP_CBLAS = 2,
  ACL_REG_TYPE_ACL_OP_COMPILER = 3,
  ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
  ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
  ACL_REG_TYPE_ACL_DVPP = 6,
  ACL_REG_TYPE_ACL_RETR = 7,
  ACL_REG_TYPE_OTHER = 0xFFFF
} aclRegisterCallbackType;
typedef int (*aclInitCallbackFunc)(const char* config, size_t length, void* data); /* an aclError */
typedef int (*aclFinalizeCallbackFunc)(void* data);
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type,
                                                     aclInitCallbackFunc call, void* data);
/* 100000: it was not registered. */
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                                       aclInitCallbackFunc call);
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                         aclFinalizeCallbackFunc call, void* data);
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc call);
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
