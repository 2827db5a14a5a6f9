// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "apps/compat/client/core_numbers.hpp"
#include "apps/compat/hal/computing.hpp"
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::get_computing;
using npu::compat::hal_ask;
using npu::compat::hal_ask_for;
using npu::compat::OnDevice;

extern "C" {

drvError_t drvGetDevNum(uint32_t* count) {
  return hal_ask_for<Call::kGetDeviceCount>(count);
}

drvError_t drvGetDevIDs(uint32_t* devices, uint32_t length) {
  if (devices == nullptr || length == 0) return DRV_ERROR_INVALID_VALUE;
  uint32_t count = 0;
  if (const auto failed = drvGetDevNum(&count); failed != DRV_ERROR_NONE) return failed;
  if (length > count) return DRV_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < length; ++i) devices[i] = i;
  return DRV_ERROR_NONE;
}

drvError_t drvDeviceOpen(void** info, uint32_t device) {
  if (info != nullptr) *info = nullptr;
  return hal_ask<Call::kOpenDevice>({device});
}

drvError_t drvDeviceClose(uint32_t device) {
  return hal_ask<Call::kResetDevice>({device});
}

drvError_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value) {
  if (value == nullptr) return DRV_ERROR_INVALID_VALUE;
  if (module == MODULE_TYPE_COMPUTING) return get_computing(device, info, value);
  const auto attribute = npu::compat::core_attribute(module, info);
  if (attribute == 0) return DRV_ERROR_NOT_SUPPORT;
  return hal_ask_for<Call::kGetDeviceInfo>(value, {device, attribute});
}

drvError_t halGetSocVersion(uint32_t device, char* name, uint32_t length) {
  if (name == nullptr || length == 0) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on(device);
  std::size_t size = 0;
  const auto failed = hal_ask_for<Call::kGetSocName>(&size);
  if (failed != DRV_ERROR_NONE) return failed;
  if (size >= length) return DRV_ERROR_INVALID_VALUE;
  std::memcpy(name, channel_of_this_thread()->window(), size);
  name[size] = 0;
  return DRV_ERROR_NONE;
}

drvError_t halCheckProcessStatusEx(DVdevice device, processType_t type, processStatus_t status,
                                   struct drv_process_status_output* out) {
  if (out == nullptr) return DRV_ERROR_INVALID_VALUE;
  const bool counts = status == STATUS_SVM_PAGE_FALUT_ERR_CNT;
  if (type != PROCESS_CP1 || (!counts && status != STATUS_SVM_PAGE_FALUT_ERR_OCCUR)) {
    return DRV_ERROR_NOT_SUPPORT;
  }
  const OnDevice on(device);
  std::uint64_t errors = 0;
  const auto failed = hal_ask_for<Call::kFaultErrors>(&errors);
  if (failed != DRV_ERROR_NONE) return failed;
  *out = {};
  out->result = counts ? static_cast<std::uint32_t>(errors) : (errors == 0 ? 0U : 1U);
  return DRV_ERROR_NONE;
}

drvError_t halCheckProcessStatus(DVdevice device, processType_t type, processStatus_t status,
                                 bool* matched) {
  if (matched == nullptr) return DRV_ERROR_INVALID_VALUE;
  struct drv_process_status_output out {};
  const auto failed = halCheckProcessStatusEx(device, type, status, &out);
  if (failed == DRV_ERROR_NONE) *matched = out.result != 0;
  return failed;
}

drvError_t halQueueInit(unsigned int) {
  return DRV_ERROR_NOT_SUPPORT;
}
drvError_t halQueueCreate(unsigned int, const QueueAttr*, unsigned int*) {
  return DRV_ERROR_NOT_SUPPORT;
}
drvError_t halQueueDestroy(unsigned int, unsigned int) {
  return DRV_ERROR_NOT_SUPPORT;
}
drvError_t halQueueEnQueue(unsigned int, unsigned int, void*) {
  return DRV_ERROR_NOT_SUPPORT;
}
drvError_t halQueueDeQueue(unsigned int, unsigned int, void**) {
  return DRV_ERROR_NOT_SUPPORT;
}

}  // extern "C"
