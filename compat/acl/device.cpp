// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include <cstring>

#include "compat/acl/visible_devices.hpp"
#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::machine_device;
using npu::compat::own_device;
using npu::compat::word;

extern "C" {

aclError aclrtGetDeviceCount(uint32_t* count) {
  return npu::compat::count_visible(count);
}

aclError aclrtSetDevice(int32_t device) {
  return ask(Call::kSetDevice, {machine_device(device)});
}

aclError aclrtResetDevice(int32_t device) {
  return ask(Call::kResetDevice, {machine_device(device)});
}

aclError aclrtResetDeviceForce(int32_t device) {
  return ask(Call::kResetDeviceForce, {machine_device(device)});
}

aclError aclrtGetDevice(int32_t* device) {
  if (device == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError status = ask(Call::kGetDevice);
  if (status == ACL_SUCCESS) *device = static_cast<int32_t>(own_device(answer()));
  return status;
}

aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (mode == nullptr) return ACL_ERROR_INVALID_PARAM;
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName(void) {
  static thread_local char text[64];
  if (ask(Call::kGetSocName) != ACL_SUCCESS) return nullptr;
  std::size_t size = answer();
  if (size >= sizeof text) size = sizeof text - 1;
  std::memcpy(text, channel_of_this_thread()->window(), size);
  text[size] = 0;
  return text;
}

aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value) {
  return ask_for(value, Call::kGetDeviceInfo,
                 {machine_device(device), static_cast<std::uint64_t>(attribute)});
}

aclError aclrtGetDeviceUtilizationRate(int32_t device, aclrtUtilizationInfo* info) {
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError status = ask(Call::kGetUtilization, {machine_device(device)});
  if (status != ACL_SUCCESS) return status;
  info->cubeUtilization = static_cast<int32_t>(answer(0));
  info->vectorUtilization = static_cast<int32_t>(answer(1));
  info->aicpuUtilization = static_cast<int32_t>(answer(2));
  info->memoryUtilization = static_cast<int32_t>(answer(3));
  info->utilizationExtend = nullptr;
  return status;
}

aclError aclrtQueryDeviceStatus(int32_t device, aclrtDeviceStatus* status) {
  return ask_for(status, Call::kQueryDeviceStatus, {machine_device(device)});
}

aclError aclrtSynchronizeDevice(void) {
  return ask(Call::kSynchronizeDevice);
}

aclError aclrtSetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t value) {
  return ask(Call::kSetResLimit,
             {0, machine_device(device), static_cast<std::uint64_t>(type), value});
}

aclError aclrtGetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t* value) {
  return ask_for(value, Call::kGetResLimit,
                 {0, machine_device(device), static_cast<std::uint64_t>(type)});
}

aclError aclrtResetDeviceResLimit(int32_t device) {
  return ask(Call::kResetResLimit, {0, machine_device(device)});
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return ask(Call::kSetResLimit, {1, word(stream), static_cast<std::uint64_t>(type), value});
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return ask_for(value, Call::kGetResLimit, {1, word(stream), static_cast<std::uint64_t>(type)});
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return ask(Call::kResetResLimit, {1, word(stream)});
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return ask(Call::kUseStreamLimits, {word(stream), 0});
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return ask(Call::kUseStreamLimits, {word(stream), 1});
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return ask_for(value, Call::kGetThreadLimit, {0, 0, static_cast<std::uint64_t>(type)});
}

aclError aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t peer) {
  if (can == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError status = ask(Call::kPeerAccess, {0, machine_device(device), machine_device(peer)});
  if (status == ACL_SUCCESS) *can = static_cast<int32_t>(answer());
  return status;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags) {
  if (flags != 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kPeerAccess, {1, 0, machine_device(peer)});
}

aclError aclrtDeviceDisablePeerAccess(int32_t peer) {
  return ask(Call::kPeerAccess, {2, 0, machine_device(peer)});
}

}  // extern "C"
