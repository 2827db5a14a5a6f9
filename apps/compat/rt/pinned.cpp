// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/pinned.hpp"

#include <runtime/mem.h>

#include "apps/compat/rt/outcome.hpp"

using npu::compat::rt_error;

extern "C" {

rtError_t rtMallocHost(void** address, uint64_t size, const uint16_t module) {
  static_cast<void>(module);
  if (address == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_error(npu::compat::allocate_pinned(address, size));
}

rtError_t rtFreeHost(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_error(npu::compat::free_pinned(address));
}

rtError_t rtHostRegister(void* address, uint64_t size, rtHostRegisterType type,
                         void** device_address) {
  if (address == nullptr || size == 0 || device_address == nullptr) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  const auto number = static_cast<int>(type);
  if (number == RT_HOST_REGISTER_IOMEMORY || number == RT_HOST_REGISTER_READONLY) {
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
  if (number != RT_HOST_REGISTER_MAPPED) return ACL_ERROR_RT_PARAM_INVALID;
  const rtError_t status = rt_error(npu::compat::register_pinned(address, size));
  if (status != RT_ERROR_NONE) return status;
  const rtError_t mapped = rt_error(npu::compat::device_pointer(address, device_address));
  if (mapped != RT_ERROR_NONE) static_cast<void>(npu::compat::unregister_pinned(address));
  return mapped;
}

rtError_t rtHostUnregister(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_error(npu::compat::unregister_pinned(address));
}

}  // extern "C"
