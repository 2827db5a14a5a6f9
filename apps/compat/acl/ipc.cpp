// SPDX-License-Identifier: Apache-2.0
// What programs share by keys and numbers.
#include <unistd.h>

#include <cstring>

#include "apps/compat/acl/direct.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::word;

namespace {

constexpr size_t kLongestKey = 64;
constexpr size_t kMostIds = 65535;

// The key into the thread's window; how long it is, 0: it is none.
size_t put_key(const char* key) {
  auto* const channel = channel_of_this_thread();
  const size_t size = key == nullptr ? 0 : ::strnlen(key, kLongestKey + 1);
  if (channel == nullptr || size == 0 || size > kLongestKey) return 0;
  std::memcpy(channel->window(), key, size);
  return size;
}

// The key of the window's first bytes; `key` has room for the longest.
aclError get_key(size_t bytes, char* key) {
  if (bytes > kLongestKey) return ACL_ERROR_INTERNAL_ERROR;
  std::memcpy(key, channel_of_this_thread()->window(), bytes);
  key[bytes] = 0;
  return ACL_SUCCESS;
}

// Ids behind what is in the window; false: there is no window.
bool put_ids(size_t at, const int32_t* pids, size_t count) {
  auto* const channel = channel_of_this_thread();
  if (channel == nullptr) return false;
  std::memcpy(channel->window() + at, pids, count * sizeof *pids);
  return true;
}

bool are_ids(const int32_t* pids, size_t count) {
  return pids != nullptr && count != 0 && count <= kMostIds;
}

bool is_type(aclrtMemSharedHandleType type) {
  return type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
}

// The number is what a handle of 128 bytes begins with.
uint64_t number_in(const void* shareable) {
  uint64_t number = 0;
  std::memcpy(&number, shareable, sizeof number);
  return number;
}

}  // namespace

extern "C" {

aclError aclrtIpcMemGetExportKey(void* address, size_t size, char* key, size_t length,
                                 uint64_t flags) {
  if (address == nullptr || size == 0 || key == nullptr || length <= kLongestKey ||
      flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
    return ACL_ERROR_INVALID_PARAM;
  }
  size_t bytes = 0;
  const aclError status = ask_for<Call::kShareName>(&bytes, {word(address), size, flags});
  return status == ACL_SUCCESS ? get_key(bytes, key) : status;
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t length, uint64_t flags) {
  constexpr uint64_t kEverybody = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;
  if (notify == nullptr || key == nullptr || length <= kLongestKey ||
      (flags != 0 && flags != kEverybody)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  size_t bytes = 0;
  const aclError status = ask_for<Call::kNotifyShare>(&bytes, {word(notify), flags});
  return status == ACL_SUCCESS ? get_key(bytes, key) : status;
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pids, size_t count) {
  if (notify == nullptr || !are_ids(pids, count) || !put_ids(0, pids, count)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask<Call::kNotifyAdmit>({word(notify), count}, nullptr, count * sizeof *pids);
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  if (notify == nullptr || (flags != 0 && flags != ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const size_t bytes = put_key(key);
  if (bytes == 0) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kNotifyOpen>(notify, {bytes}, bytes);
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pids, size_t count) {
  if (!are_ids(pids, count)) return ACL_ERROR_INVALID_PARAM;
  const size_t bytes = put_key(key);
  if (bytes == 0 || !put_ids(bytes, pids, count)) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kShareAdmit>({bytes, count}, nullptr, bytes + count * sizeof *pids);
}

aclError aclrtIpcMemImportByKey(void** address, const char* key, uint64_t flags) {
  if (address == nullptr || flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const size_t bytes = put_key(key);
  if (bytes == 0) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kShareOpen>(address, {bytes}, bytes);
}

aclError aclrtIpcMemClose(const char* key) {
  const size_t bytes = put_key(key);
  if (bytes == 0) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kShareLeave>({bytes}, nullptr, bytes);
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  if (pid == nullptr) return ACL_ERROR_INVALID_PARAM;
  *pid = ::getpid();
  return ACL_SUCCESS;
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareable, int32_t* pids, size_t count) {
  if (!are_ids(pids, count) || !put_ids(0, pids, count)) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kMemAdmit>({shareable, count}, nullptr, count * sizeof *pids);
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType type, void* shareable) {
  if (shareable == nullptr || !is_type(type)) return ACL_ERROR_INVALID_PARAM;
  uint64_t number = 0;
  const aclError status =
      aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, flags, &number);
  if (status != ACL_SUCCESS) return status;
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) {
    std::memset(shareable, 0, sizeof(aclrtMemFabricHandle));
  }
  std::memcpy(shareable, &number, sizeof number);
  return ACL_SUCCESS;
}

aclError aclrtMemImportFromShareableHandleV2(void* shareable, aclrtMemSharedHandleType type,
                                             uint64_t flags, aclrtDrvMemHandle* handle) {
  if (shareable == nullptr || !is_type(type) || flags != 0) return ACL_ERROR_INVALID_PARAM;
  int32_t device = 0;
  const aclError status = aclrtGetDevice(&device);
  if (status != ACL_SUCCESS) return status;
  return aclrtMemImportFromShareableHandle(number_in(shareable), device, handle);
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareable, aclrtMemSharedHandleType type,
                                           int32_t* pids, size_t count) {
  if (shareable == nullptr || !is_type(type)) return ACL_ERROR_INVALID_PARAM;
  return aclrtMemSetPidToShareableHandle(number_in(shareable), pids, count);
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  if (event == nullptr || handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t key = 0;
  const aclError status = ask_for<Call::kEventShare>(&key, {word(event)});
  if (status != ACL_SUCCESS) return status;
  *handle = {};
  std::memcpy(handle->reserved, &key, sizeof key);
  return ACL_SUCCESS;
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return ask_for<Call::kEventOpen>(event, {number_in(handle.reserved)});
}

}  // extern "C"
