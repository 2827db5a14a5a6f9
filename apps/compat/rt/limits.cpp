// SPDX-License-Identifier: Apache-2.0
// Limits of cores, of a device and of a stream.
#include <runtime/dev.h>

#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;

namespace {

std::uint64_t limited(std::uint32_t device) {
  return static_cast<std::uint64_t>(machine_device(device));
}

}  // namespace

extern "C" {

rtError_t rtSetDeviceResLimit(const uint32_t device, const rtDevResLimitType_t type,
                              const uint32_t value) {
  return rt_ask<Call::kSetResLimit>({0, limited(device), static_cast<std::uint64_t>(type), value});
}

rtError_t rtGetDeviceResLimit(const uint32_t device, const rtDevResLimitType_t type,
                              uint32_t* value) {
  return rt_ask_for<Call::kGetResLimit>(value,
                                        {0, limited(device), static_cast<std::uint64_t>(type)});
}

rtError_t rtResetDeviceResLimit(const uint32_t device) {
  return rt_ask<Call::kResetResLimit>({0, limited(device)});
}

rtError_t rtSetStreamResLimit(rtStream_t stream, const rtDevResLimitType_t type,
                              const uint32_t value) {
  return rt_ask<Call::kSetResLimit>({1, word(stream), static_cast<std::uint64_t>(type), value});
}

rtError_t rtGetStreamResLimit(rtStream_t stream, const rtDevResLimitType_t type, uint32_t* value) {
  return rt_ask_for<Call::kGetResLimit>(value, {1, word(stream), static_cast<std::uint64_t>(type)});
}

rtError_t rtResetStreamResLimit(rtStream_t stream) {
  return rt_ask<Call::kResetResLimit>({1, word(stream)});
}

rtError_t rtUseStreamResInCurrentThread(rtStream_t stream) {
  return rt_ask<Call::kUseStreamLimits>({word(stream), 0});
}

rtError_t rtNotUseStreamResInCurrentThread(rtStream_t stream) {
  return rt_ask<Call::kUseStreamLimits>({word(stream), 1});
}

rtError_t rtGetResInCurrentThread(const rtDevResLimitType_t type, uint32_t* value) {
  return rt_ask_for<Call::kGetThreadLimit>(value, {0, 0, static_cast<std::uint64_t>(type)});
}

}  // extern "C"
