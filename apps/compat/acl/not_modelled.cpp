// SPDX-License-Identifier: Apache-2.0
// What is declared so that programs can be linked, and npusim has no model of.
#include <acl/acl.h>
#include <acl/acl_tdt_queue.h>

#define NPU_NOT_MODELLED(name, ...)   \
  aclError name(__VA_ARGS__) {        \
    return ACL_ERROR_API_NOT_SUPPORT; \
  }
#define NPU_NO_FEATURE(name, ...)            \
  aclError name(__VA_ARGS__) {               \
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT; \
  }

#define NPU_NOT_ON_THESE_CARDS(name, ...) \
  aclError name(__VA_ARGS__) {            \
    return ACL_ERROR_FEATURE_UNSUPPORTED; \
  }

extern "C" {

NPU_NOT_MODELLED(aclopSetModelDir, const char*)
NPU_NOT_MODELLED(aclopLoad, const void*, size_t)
NPU_NOT_MODELLED(aclmdlLoadFromFile, const char*, uint32_t*)
NPU_NOT_MODELLED(aclmdlUnload, uint32_t)

NPU_NO_FEATURE(aclrtGetOverflowStatus, void*, size_t, aclrtStream)
NPU_NO_FEATURE(aclrtResetOverflowStatus, aclrtStream)
NPU_NO_FEATURE(aclrtSetGroup, int32_t)
NPU_NO_FEATURE(aclrtGetArgsFromExceptionInfo, const aclrtExceptionInfo*, void**, uint32_t*)
NPU_NO_FEATURE(aclrtGetFuncHandleFromExceptionInfo, const aclrtExceptionInfo*, aclrtFuncHandle*)

NPU_NOT_ON_THESE_CARDS(acltdtAllocBuf, size_t, uint32_t, acltdtBuf*)
NPU_NOT_ON_THESE_CARDS(acltdtFreeBuf, acltdtBuf)
NPU_NOT_ON_THESE_CARDS(acltdtGetBufData, const acltdtBuf, void**, size_t*)
NPU_NOT_ON_THESE_CARDS(acltdtSetBufDataLen, acltdtBuf, size_t)
NPU_NOT_ON_THESE_CARDS(acltdtGetBufDataLen, acltdtBuf, size_t*)
NPU_NOT_ON_THESE_CARDS(acltdtAppendBufChain, acltdtBuf, acltdtBuf)
NPU_NOT_ON_THESE_CARDS(acltdtGetBufChainNum, acltdtBuf, uint32_t*)
NPU_NOT_ON_THESE_CARDS(acltdtGetBufFromChain, acltdtBuf, uint32_t, acltdtBuf*)
NPU_NOT_ON_THESE_CARDS(acltdtGetBufUserData, const acltdtBuf, void*, size_t, size_t)
NPU_NOT_ON_THESE_CARDS(acltdtSetBufUserData, acltdtBuf, const void*, size_t, size_t)
NPU_NOT_ON_THESE_CARDS(acltdtCopyBufRef, const acltdtBuf, acltdtBuf*)
NPU_NOT_ON_THESE_CARDS(acltdtEnqueue, uint32_t, acltdtBuf, int32_t)
NPU_NOT_ON_THESE_CARDS(acltdtDequeue, uint32_t, acltdtBuf*, int32_t)

}  // extern "C"
