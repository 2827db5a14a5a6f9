// SPDX-License-Identifier: Apache-2.0
// Notifies, values that streams write and wait for, streams that are given up.
#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/values.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

namespace {

void look_at_values() {
  while (ask<Call::kValueLook>({}) == ACL_SUCCESS) {
  }
}

}  // namespace

npu::compat::HelperThread& npu::compat::value_thread() {
  static auto* const kHelper = new HelperThread(look_at_values);
  return *kHelper;
}

extern "C" {

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kCreateNotify>(notify);
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  if (notify == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kDestroyNotify>({word(notify)});
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  if (notify == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kRecordNotify>({word(notify), word(stream)});
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  if (notify == nullptr) return ACL_ERROR_INVALID_PARAM;
  constexpr uint64_t kMilliseconds = 1000;
  return ask<Call::kWaitNotify>({word(notify), word(stream), timeout * kMilliseconds});
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* id) {
  if (notify == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kNotifyNumber>(id, {word(notify)});
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t count) {
  if (notifies == nullptr || count == 0) return ACL_ERROR_INVALID_PARAM;
  for (size_t i = 0; i < count; ++i) {
    if (notifies[i] == nullptr) return ACL_ERROR_INVALID_PARAM;
  }
  aclError status = ACL_SUCCESS;
  for (size_t i = 0; status == ACL_SUCCESS && i < count; ++i) {
    status = ask<Call::kNotifyReset>({word(notifies[i])});
  }
  return status;
}

aclError aclrtValueWrite(void* address, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (address == nullptr || flag != 0) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kValueWrite>({word(address), value, flag, word(stream)});
}

aclError aclrtValueWait(void* address, uint64_t value, uint32_t flag, aclrtStream stream) {
  if (address == nullptr || flag > ACL_STREAM_WAIT_VALUE_NOR) return ACL_ERROR_INVALID_PARAM;
  const aclError status = ask<Call::kValueWait>({word(address), value, flag, word(stream)});
  return status == ACL_SUCCESS ? npu::compat::value_thread().begun() : status;
}

aclError aclrtStreamAbort(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kStreamAbort>({word(stream)});
}

aclError aclrtStreamStop(aclrtStream stream) {
  if (stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kStreamStop>({word(stream)});
}

}  // extern "C"
