// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include <cstring>

#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::kForEver;
using npu::compat::word;

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  return ask_for(event, Call::kCreateEvent);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  static_cast<void>(flag);
  return ask_for(event, Call::kCreateEvent);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  static_cast<void>(flag);
  return ask_for(event, Call::kCreateEvent);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kDestroyEvent, {word(event)});
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kRecordEvent, {word(event), word(stream)});
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kResetEvent, {word(event), word(stream)});
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for(status, Call::kQueryEvent, {word(event)});
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  const aclError asked = aclrtQueryEventStatus(event, &recorded);
  if (asked != ACL_SUCCESS) return asked;
  *status = recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                           : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSynchronizeEvent, {word(event), kForEver});
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  if (event == nullptr || timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kSynchronizeEvent,
             {word(event), timeout < 0 ? kForEver : static_cast<std::uint64_t>(timeout)});
}

// The answer is in nanoseconds.
aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  if (milliseconds == nullptr || start == nullptr || end == nullptr) return ACL_ERROR_INVALID_PARAM;
  const int status = ask(Call::kEventElapsedTime, {word(start), word(end)});
  if (status != ACL_SUCCESS) return status;
  *milliseconds =
      static_cast<float>(static_cast<double>(static_cast<std::int64_t>(answer())) / 1e6);
  return ACL_SUCCESS;
}

}  // extern "C"
