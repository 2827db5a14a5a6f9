// SPDX-License-Identifier: Apache-2.0
// Groups of cores, of which no chip that is modelled has any.
#include <acl/acl_rt.h>

#include <new>

struct tagRtGroupInfo {};

extern "C" {

aclError aclrtGetGroupCount(uint32_t* count) {
  if (count == nullptr) return ACL_ERROR_INVALID_PARAM;
  *count = 0;
  return ACL_SUCCESS;
}

aclrtGroupInfo* aclrtCreateGroupInfo(void) {
  return new (std::nothrow) tagRtGroupInfo;
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* info) {
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete info;
  return ACL_SUCCESS;
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* info) {
  return info == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS;
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* info, int32_t index,
                                 aclrtGroupAttr attribute, void* value, size_t size,
                                 size_t* needed) {
  static_cast<void>(info);
  static_cast<void>(index);
  static_cast<void>(attribute);
  static_cast<void>(value);
  static_cast<void>(size);
  static_cast<void>(needed);
  return ACL_ERROR_INVALID_PARAM;
}

}  // extern "C"
