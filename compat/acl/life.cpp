// SPDX-License-Identifier: Apache-2.0
#include <acl/acl.h>

#include <cstring>

#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::Call;
using npu::compat::Channel;
using npu::compat::channel_of_this_thread;

namespace {

constexpr char kNoServerText[] = "the program does not run under `npusim exec`";

}  // namespace

extern "C" {

aclError aclInit(const char* config_path) {
  static_cast<void>(config_path);
  return ask(Call::kInit);
}

aclError aclFinalize(void) {
  return ask(Call::kFinalize);
}

aclError aclFinalizeReference(uint64_t* count) {
  const int status = ask(Call::kFinalizeReference);
  if (status == ACL_SUCCESS && count != nullptr) *count = answer();
  return status;
}

const char* aclGetRecentErrMsg(void) {
  static thread_local char text[256];
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServerText;
  if (ask(Call::kErrorMessage) != ACL_SUCCESS) return "";
  std::size_t size = answer();
  if (size >= sizeof text) size = sizeof text - 1;
  std::memcpy(text, channel->window(), size);
  text[size] = 0;
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
