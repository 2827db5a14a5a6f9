// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/event.h>

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventCreate(event);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventCreateWithFlag(event, flag);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventCreateExWithFlag(event, flag);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventDestroy(event);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventRecord(event, stream);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventReset(event, stream);
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (event == nullptr || status == nullptr) return ACL_ERROR_INVALID_PARAM;
  rtEventStatus_t recorded = RT_EVENT_INIT;
  const aclError asked = rtEventQueryStatus(event, &recorded);
  if (asked == ACL_SUCCESS) *status = static_cast<aclrtEventRecordedStatus>(recorded);
  return asked;
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
  return rtEventSynchronize(event);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  if (event == nullptr || timeout < -1) return ACL_ERROR_INVALID_PARAM;
  return rtEventSynchronizeWithTimeout(event, timeout);
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  if (milliseconds == nullptr || start == nullptr || end == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtEventElapsedTime(milliseconds, start, end);
}

}  // extern "C"
