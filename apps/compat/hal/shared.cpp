// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::Channel;
using npu::compat::channel_of_this_thread;
using npu::compat::hal_ask;
using npu::compat::hal_ask_for;
using npu::compat::OnDevice;

namespace {

constexpr std::size_t kLongest = NPU_HAL_NAME_LENGTH - 1;
constexpr int kMostIds = 65535;

// The name into the thread's window; how long it is.
drvError_t put_name(const char* name, std::size_t* size) {
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return DRV_ERROR_NO_DEVICE;
  *size = name == nullptr ? 0 : ::strnlen(name, kLongest + 1);
  if (*size == 0 || *size > kLongest) return DRV_ERROR_INVALID_VALUE;
  std::memcpy(channel->window(), name, *size);
  return DRV_ERROR_NONE;
}

drvError_t open_named(const char* name, DVdeviceptr* address) {
  std::size_t size = 0;
  if (const auto wrong = put_name(name, &size); wrong != DRV_ERROR_NONE) return wrong;
  return hal_ask_for<Call::kShareOpen>(address, {size}, size);
}

}  // namespace

extern "C" {

DVresult halShmemCreateHandle(DVdeviceptr address, size_t bytes, char* name, uint32_t length) {
  if (address == 0 || bytes == 0 || name == nullptr || length < NPU_HAL_NAME_LENGTH) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const OnDevice on;
  std::uint64_t size = 0;
  const auto failed = hal_ask_for<Call::kShareName>(&size, {address, bytes});
  if (failed != DRV_ERROR_NONE) return failed;
  if (size > kLongest) return DRV_ERROR_INNER_ERR;
  std::memcpy(name, channel_of_this_thread()->window(), size);
  name[size] = 0;
  return DRV_ERROR_NONE;
}

DVresult halShmemDestroyHandle(const char* name) {
  std::size_t size = 0;
  if (const auto wrong = put_name(name, &size); wrong != DRV_ERROR_NONE) return wrong;
  return hal_ask<Call::kShareEnd>({size}, nullptr, size);
}

DVresult halShmemSetPidHandle(const char* name, int ids[], int count) {
  if (ids == nullptr || count <= 0 || count > kMostIds) return DRV_ERROR_INVALID_VALUE;
  std::size_t size = 0;
  if (const auto wrong = put_name(name, &size); wrong != DRV_ERROR_NONE) return wrong;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *ids;
  std::memcpy(channel_of_this_thread()->window() + size, ids, bytes);
  return hal_ask<Call::kShareAdmit>({size, static_cast<std::uint64_t>(count)}, nullptr,
                                    size + bytes);
}

DVresult halShmemOpenHandle(const char* name, DVdeviceptr* address) {
  const OnDevice on;
  return open_named(name, address);
}

DVresult halShmemOpenHandleByDevId(DVdevice device, const char* name, DVdeviceptr* address) {
  const OnDevice on(device);
  return open_named(name, address);
}

DVresult halShmemCloseHandle(DVdeviceptr address) {
  if (address == 0) return DRV_ERROR_INVALID_VALUE;
  return hal_ask<Call::kShareClose>({address});
}

}  // extern "C"
