// SPDX-License-Identifier: Apache-2.0
#include <runtime/mem_virtual.h>

#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;
constexpr std::uint32_t kHostSide = 0, kDeviceSide = 1;

// 107000, 207000: of no side, of the host.
rtError_t check(const rtDrvMemProp_t* properties) {
  if (properties == nullptr || properties->side > kDeviceSide) return ACL_ERROR_RT_PARAM_INVALID;
  return properties->side == kHostSide ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : RT_ERROR_NONE;
}

}  // namespace

extern "C" {

rtError_t rtMemGetAllocationGranularity(rtDrvMemProp_t* properties,
                                        rtDrvMemGranularityOptions option, size_t* granularity) {
  const auto number = static_cast<int>(option);
  if (granularity == nullptr || number < 0 || number > RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (const auto wrong = check(properties); wrong != RT_ERROR_NONE) return wrong;
  *granularity = kGranularity;
  return RT_ERROR_NONE;
}

rtError_t rtReserveMemAddress(void** address, size_t size, size_t alignment, void* wanted,
                              uint64_t flags) {
  static_cast<void>(alignment);
  static_cast<void>(wanted);
  static_cast<void>(flags);
  if (size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask_for<Call::kReserveMemAddress>(address, {size});
}

rtError_t rtReleaseMemAddress(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kReleaseMemAddress>({word(address)});
}

rtError_t rtMallocPhysical(rtDrvMemHandle* handle, size_t size, rtDrvMemProp_t* properties,
                           uint64_t flags) {
  static_cast<void>(flags);
  if (size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  if (const auto wrong = check(properties); wrong != RT_ERROR_NONE) return wrong;
  return rt_ask_for<Call::kMallocPhysical>(
      handle, {size, machine_device(properties->devid), properties->module_id});
}

rtError_t rtFreePhysical(rtDrvMemHandle handle) {
  if (handle == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kFreePhysical>({word(handle)});
}

rtError_t rtMapMem(void* address, size_t size, size_t offset, rtDrvMemHandle handle,
                   uint64_t flags) {
  static_cast<void>(flags);
  if (address == nullptr || handle == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kMapMem>({word(address), size, offset, word(handle)});
}

rtError_t rtUnmapMem(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kUnmapMem>({word(address)});
}

rtError_t rtMemSetAccess(void* address, size_t size, rtMemAccessDesc* descriptors, size_t count) {
  if (address == nullptr || size == 0 || descriptors == nullptr || count == 0) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = descriptors[i];
    if (each.location.type != RT_MEMORY_LOC_DEVICE) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    const rtError_t status =
        rt_ask<Call::kMemSetAccess>({word(address), size, machine_device(each.location.id),
                                     static_cast<std::uint64_t>(each.flags)});
    if (status != RT_ERROR_NONE) return status;
  }
  return RT_ERROR_NONE;
}

rtError_t rtMemExportToShareableHandle(rtDrvMemHandle handle, rtDrvMemHandleType type,
                                       uint64_t flags, uint64_t* shareable) {
  static_cast<void>(type);
  static_cast<void>(flags);
  if (handle == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask_for<Call::kMemExport>(shareable, {word(handle)});
}

rtError_t rtMemImportFromShareableHandle(uint64_t shareable, int32_t device,
                                         rtDrvMemHandle* handle) {
  return rt_ask_for<Call::kMemImport>(handle, {shareable, machine_device(device)});
}

}  // extern "C"
