// SPDX-License-Identifier: Apache-2.0
#include <runtime/dev.h>

#include <cstring>

#include "apps/compat/client/core_numbers.hpp"
#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::wire::PeerRequest;

extern "C" {

rtError_t rtGetDeviceCount(int32_t* count) {
  if (count == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  std::uint32_t visible = 0;
  const int status = npu::compat::rt_error(npu::compat::count_visible(&visible));
  if (status == RT_ERROR_NONE || status == ACL_ERROR_RT_NO_DEVICE) {
    *count = static_cast<int32_t>(visible);
  }
  return status;
}

rtError_t rtSetDevice(int32_t device) {
  return rt_ask<Call::kSetDevice>({machine_device(device)});
}

rtError_t rtDeviceReset(int32_t device) {
  return rt_ask<Call::kResetDevice>({machine_device(device)});
}

rtError_t rtDeviceResetForce(int32_t device) {
  return rt_ask<Call::kResetDeviceForce>({machine_device(device)});
}

rtError_t rtGetDevice(int32_t* device) {
  if (device == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  std::uint64_t machine = 0;
  const rtError_t status = rt_ask_for<Call::kGetDevice>(&machine);
  if (status == RT_ERROR_NONE) *device = static_cast<int32_t>(npu::compat::own_device(machine));
  return status;
}

rtError_t rtGetRunMode(rtRunMode* mode) {
  if (mode == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  *mode = RT_RUN_MODE_ONLINE;
  return RT_ERROR_NONE;
}

rtError_t rtGetSocVersion(char* name, const uint32_t length) {
  if (name == nullptr || length == 0) return ACL_ERROR_RT_PARAM_INVALID;
  std::size_t size = 0;
  const rtError_t status = rt_ask_for<Call::kGetSocName>(&size);
  if (status != RT_ERROR_NONE) return status;
  if (size >= length) return ACL_ERROR_RT_PARAM_INVALID;
  std::memcpy(name, npu::compat::channel_of_this_thread()->window(), size);
  name[size] = 0;
  return RT_ERROR_NONE;
}

rtError_t rtGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value) {
  if (value == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  const auto attribute = npu::compat::core_attribute(module, info);
  if (attribute == 0) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return rt_ask_for<Call::kGetDeviceInfo>(value, {machine_device(device), attribute});
}

rtError_t rtDeviceStatusQuery(const uint32_t device, rtDeviceStatus* status) {
  return rt_ask_for<Call::kQueryDeviceStatus>(status, {machine_device(device)});
}

rtError_t rtDeviceSynchronize(void) {
  return rt_ask<Call::kSynchronizeDevice>({npu::compat::wire::kForEver});
}

rtError_t rtDeviceCanAccessPeer(int32_t* can, uint32_t device, uint32_t peer) {
  return rt_ask_for<Call::kPeerAccess>(
      can, {PeerRequest::kCan, machine_device(device), machine_device(peer)});
}

}  // extern "C"
