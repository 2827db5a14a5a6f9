// SPDX-License-Identifier: Apache-2.0
#include <acl/acl.h>
#include <runtime/npusim_rt.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "apps/compat/client/request.hpp"

extern "C" {

aclError aclInit(const char* config_path) {
  static_cast<void>(config_path);
  return npusimRtInit();
}

aclError aclFinalize(void) {
  return npusimRtFinalize();
}

aclError aclFinalizeReference(uint64_t* count) {
  return npusimRtFinalizeReference(count);
}

const char* aclGetRecentErrMsg(void) {
  static thread_local char text[128];
  // What npusim has to tell is older.
  const char* const told = npusimRtErrorMessage();
  const char* const refused = std::exchange(npu::compat::refused_call(), nullptr);
  if (refused == nullptr) return *told == 0 ? nullptr : told;
  // Functions of the library's own do not mean anything to a program.
  const bool is_public = std::strncmp(refused, "acl", 3) == 0;
  std::snprintf(text, sizeof text, "%s%sa parameter is null, 0, or out of its range",
                is_public ? refused : "", is_public ? ": " : "");
  return text;
}

aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) return ACL_ERROR_INVALID_PARAM;
  *major = 8;
  *minor = 5;
  *patch = 0;
  return ACL_SUCCESS;
}

size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

}  // extern "C"
