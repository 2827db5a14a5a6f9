// SPDX-License-Identifier: Apache-2.0
// Copies whose addresses are in device memory; limits of waits.
#include <atomic>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/printed.hpp"
#include "apps/compat/acl/values.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;
using npu::compat::wire::CopyDescription;

namespace {

bool is_within_a_device(aclrtMemcpyKind kind) {
  return kind == ACL_MEMCPY_DEVICE_TO_DEVICE || kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
}

aclError copy_through(const npu::compat::wire::IndirectCopy& copy) {
  const aclError status = ask<Call::kCopyThrough>(copy);
  return status == ACL_SUCCESS ? npu::compat::value_thread().begun() : status;
}

}  // namespace

extern "C" {

aclError aclrtMemcpyAsyncWithOffset(void** to, size_t room, size_t to_offset, const void** source,
                                    size_t count, size_t source_offset, aclrtMemcpyKind kind,
                                    aclrtStream stream) {
  if (to == nullptr || source == nullptr || count == 0 || count > room) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (!is_within_a_device(kind)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return copy_through({word(to), to_offset, word(source), source_offset, count, 0, word(stream)});
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* size) {
  if (size == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_within_a_device(kind)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  *size = sizeof(CopyDescription);
  return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void* description, aclrtMemcpyKind kind, void* source, void* to,
                            size_t count, void* config) {
  if (description == nullptr || source == nullptr || to == nullptr || count == 0 ||
      config != nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (!is_within_a_device(kind)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  const CopyDescription what{word(source), word(to), count, 0};
  return aclrtMemcpy(description, sizeof what, &what, sizeof what, ACL_MEMCPY_HOST_TO_DEVICE);
}

aclError aclrtMemcpyAsyncWithDesc(void* description, aclrtMemcpyKind kind, aclrtStream stream) {
  if (description == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_within_a_device(kind)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return copy_through({0, 0, word(description), 0, 0, 1, word(stream)});
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                         int32_t milliseconds) {
  if (event == nullptr || milliseconds <= 0) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kStreamWaitEvent>(
      {word(stream), word(event), 0, static_cast<uint64_t>(milliseconds)});
}

aclError aclrtSetOpWaitTimeout(uint32_t seconds) {
  constexpr uint64_t kMilliseconds = 1000;
  npu::compat::wait_limit() = seconds * kMilliseconds;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
  if (milliseconds < -1) return ACL_ERROR_INVALID_PARAM;
  const auto limit =
      milliseconds < 0 ? npu::compat::wire::kForEver : static_cast<uint64_t>(milliseconds);
  const aclError status = ask<Call::kSynchronizeDevice>({limit});
  npu::compat::print_of_device();
  return npu::compat::told(status);
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kEventWaits>(status, {word(event)});
}

aclError aclrtGetStreamAvailableNum(uint32_t* count) {
  return ask_for<Call::kStreamsLeft>(count);
}

}  // extern "C"
