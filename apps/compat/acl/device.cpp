// SPDX-License-Identifier: Apache-2.0
#include <runtime/dev.h>
#include <runtime/npusim_rt.h>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/pools.hpp"
#include "apps/compat/acl/printed.hpp"

using npu::compat::tell_device;

namespace {

bool is_attribute(aclrtDevAttr attribute) {
  switch (static_cast<int>(attribute)) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      return true;
    default:
      return false;
  }
}

// One call between what is told before and behind it.
aclError reset(int32_t device, rtError_t (*call)(int32_t)) {
  npu::compat::finish_printing_of_device(device);
  tell_device(device, ACL_RT_DEVICE_STATE_RESET_PRE);
  const aclError status = call(device);
  if (status == ACL_SUCCESS) tell_device(device, ACL_RT_DEVICE_STATE_RESET_POST);
  npu::compat::forget_pools(device);
  return status;
}

}  // namespace

extern "C" {

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t devices = 0;
  const aclError status = rtGetDeviceCount(&devices);
  if (status == ACL_SUCCESS || status == ACL_ERROR_RT_NO_DEVICE) {
    *count = static_cast<uint32_t>(devices);
  }
  return status;
}

aclError aclrtSetDevice(int32_t device) {
  tell_device(device, ACL_RT_DEVICE_STATE_SET_PRE);
  const aclError status = rtSetDevice(device);
  if (status == ACL_SUCCESS) tell_device(device, ACL_RT_DEVICE_STATE_SET_POST);
  return status;
}

aclError aclrtResetDevice(int32_t device) {
  return reset(device, rtDeviceReset);
}

aclError aclrtResetDeviceForce(int32_t device) {
  return reset(device, rtDeviceResetForce);
}

aclError aclrtGetDevice(int32_t* device) {
  if (device == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtGetDevice(device);
}

aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (mode == nullptr) return ACL_ERROR_INVALID_PARAM;
  rtRunMode online = RT_RUN_MODE_ONLINE;
  const aclError status = rtGetRunMode(&online);
  if (status == ACL_SUCCESS) *mode = online == RT_RUN_MODE_ONLINE ? ACL_HOST : ACL_DEVICE;
  return status;
}

const char* aclrtGetSocName(void) {
  static thread_local char text[64];
  return rtGetSocVersion(text, sizeof text) == ACL_SUCCESS ? text : nullptr;
}

aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value) {
  if (value == nullptr || !is_attribute(attribute)) return ACL_ERROR_INVALID_PARAM;
  return npusimRtDeviceAttribute(device, static_cast<uint32_t>(attribute), value);
}

aclError aclrtGetDeviceUtilizationRate(int32_t device, aclrtUtilizationInfo* info) {
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t percent[4] = {};
  const aclError status = npusimRtUtilization(device, percent);
  if (status == ACL_SUCCESS) *info = {percent[0], percent[1], percent[2], percent[3], nullptr};
  return status;
}

aclError aclrtQueryDeviceStatus(int32_t device, aclrtDeviceStatus* status) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  rtDeviceStatus found = RT_DEVICE_STATUS_NORMAL;
  const aclError asked = rtDeviceStatusQuery(static_cast<uint32_t>(device), &found);
  if (asked == ACL_SUCCESS) *status = static_cast<aclrtDeviceStatus>(found);
  return asked;
}

aclError aclrtSynchronizeDevice(void) {
  const aclError status = rtDeviceSynchronize();
  npu::compat::print_of_device();
  npu::compat::trim_pools();
  return npu::compat::told(status);
}

aclError aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t peer) {
  if (can == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtDeviceCanAccessPeer(can, static_cast<uint32_t>(device), static_cast<uint32_t>(peer));
}

aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags) {
  if (flags != 0) return ACL_ERROR_INVALID_PARAM;
  return npusimRtPeerAccess(peer, 1);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peer) {
  return npusimRtPeerAccess(peer, 0);
}

}  // extern "C"
