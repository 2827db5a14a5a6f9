// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/mem_virtual.h>

#include "apps/compat/acl/modules.hpp"

namespace {

bool is_on_device(const aclrtPhysicalMemProp* properties) {
  return properties != nullptr && properties->location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

rtDrvMemProp_t runtime_properties(const aclrtPhysicalMemProp& properties) {
  constexpr uint32_t kDeviceSide = 1;
  rtDrvMemProp_t all = {};
  all.side = kDeviceSide;
  all.devid = properties.location.id;
  all.module_id = npu::compat::kProgramModule;
  return all;
}

bool is_access(aclrtMemAccessFlags flags) {
  return flags == ACL_RT_MEM_ACCESS_FLAGS_NONE || flags == ACL_RT_MEM_ACCESS_FLAGS_READ ||
         flags == ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
}

}  // namespace

extern "C" {

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* properties,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  if (granularity == nullptr || !is_on_device(properties) || static_cast<int>(option) < 0 ||
      option > ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return ACL_ERROR_INVALID_PARAM;
  }
  auto all = runtime_properties(*properties);
  return rtMemGetAllocationGranularity(&all, static_cast<rtDrvMemGranularityOptions>(option),
                                       granularity);
}

aclError aclrtReserveMemAddress(void** address, size_t size, size_t alignment, void* wanted,
                                uint64_t flags) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return rtReserveMemAddress(address, size, alignment, wanted, flags);
}

aclError aclrtReleaseMemAddress(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtReleaseMemAddress(address);
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* properties, uint64_t flags) {
  if (handle == nullptr || size == 0 || properties == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_on_device(properties)) return ACL_ERROR_API_NOT_SUPPORT;
  auto all = runtime_properties(*properties);
  return rtMallocPhysical(handle, size, &all, flags);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtFreePhysical(handle);
}

aclError aclrtMapMem(void* address, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  if (address == nullptr || handle == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return rtMapMem(address, size, offset, handle, flags);
}

aclError aclrtUnmapMem(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtUnmapMem(address);
}

aclError aclrtMemSetAccess(void* address, size_t size, aclrtMemAccessDesc* descriptors,
                           size_t count) {
  if (address == nullptr || size == 0 || descriptors == nullptr || count == 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  for (size_t i = 0; i < count; ++i) {
    const auto& each = descriptors[i];
    if (each.location.type != ACL_MEM_LOCATION_TYPE_DEVICE) return ACL_ERROR_API_NOT_SUPPORT;
    if (!is_access(each.flags)) return ACL_ERROR_INVALID_PARAM;
    rtMemAccessDesc one = {};
    one.flags = static_cast<rtMemAccessFlags>(each.flags);
    one.location = {each.location.id, RT_MEMORY_LOC_DEVICE};
    const aclError status = rtMemSetAccess(address, size, &one, 1);
    if (status != ACL_SUCCESS) return status;
  }
  return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType type,
                                         uint64_t flags, uint64_t* shareable) {
  if (handle == nullptr || shareable == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtMemExportToShareableHandle(handle, static_cast<rtDrvMemHandleType>(type), flags,
                                      shareable);
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareable, int32_t device,
                                           aclrtDrvMemHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtMemImportFromShareableHandle(shareable, device, handle);
}

}  // extern "C"
