// SPDX-License-Identifier: Apache-2.0
// What the ACL needs of npusim and what the public runtime has no function for.
#include <runtime/npusim_rt.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::wire::PeerRequest;

namespace {

constexpr char kNoServerText[] = "the program does not run under `npusim exec`";

}  // namespace

extern "C" {

rtError_t npusimRtInit(void) {
  return ask<Call::kInit>();
}

rtError_t npusimRtFinalize(void) {
  return ask<Call::kFinalize>();
}

rtError_t npusimRtFinalizeReference(uint64_t* count) {
  npu::compat::wire::Number left;
  const int status = ask<Call::kFinalizeReference>({}, &left);
  if (status == RT_ERROR_NONE && count != nullptr) *count = left.number;
  return status;
}

const char* npusimRtErrorMessage(void) {
  static thread_local char text[256];
  auto* const channel = npu::compat::channel_of_this_thread();
  if (channel == nullptr) return kNoServerText;
  std::size_t size = 0;
  if (ask_for<Call::kErrorMessage>(&size) != RT_ERROR_NONE) return "";
  if (size >= sizeof text) size = sizeof text - 1;
  std::memcpy(text, channel->window(), size);
  text[size] = 0;
  return text;
}

rtError_t npusimRtMemoryUse(uint64_t use[4]) {
  if (use == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  npu::compat::wire::MemoryUse now;
  const rtError_t status = rt_ask<Call::kMemoryUse>({}, &now);
  if (status == RT_ERROR_NONE) std::memcpy(use, &now, sizeof now);
  return status;
}

rtError_t npusimRtLimitMemory(uint64_t bytes) {
  return rt_ask<Call::kLimitMemory>({bytes});
}

rtError_t npusimRtDeviceAttribute(uint32_t device, uint32_t attribute, int64_t* value) {
  return rt_ask_for<Call::kGetDeviceInfo>(value, {machine_device(device), attribute});
}

rtError_t npusimRtUtilization(int32_t device, int32_t percent[4]) {
  if (percent == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  npu::compat::wire::Utilization now;
  const rtError_t status = rt_ask<Call::kGetUtilization>({machine_device(device)}, &now);
  if (status != RT_ERROR_NONE) return status;
  const std::uint64_t all[] = {now.cube, now.vector, now.aicpus, now.memory};
  std::copy(std::begin(all), std::end(all), percent);
  return RT_ERROR_NONE;
}

int64_t npusimRtMachineDevice(int32_t device) {
  return machine_device(device);
}

rtError_t npusimRtPeerAccess(int32_t peer, int32_t enable) {
  return rt_ask<Call::kPeerAccess>(
      {enable != 0 ? PeerRequest::kEnable : PeerRequest::kDisable, 0, machine_device(peer)});
}

}  // extern "C"
