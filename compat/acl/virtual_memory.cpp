// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include "compat/acl/visible_devices.hpp"
#include "compat/client/request.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::word;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

bool is_on_device(const aclrtPhysicalMemProp* properties) {
  return properties != nullptr && properties->location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

extern "C" {

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* properties,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  if (granularity == nullptr || !is_on_device(properties) || static_cast<int>(option) < 0 ||
      option > ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *granularity = kGranularity;
  return ACL_SUCCESS;
}

aclError aclrtReserveMemAddress(void** address, size_t size, size_t alignment, void* wanted,
                                uint64_t flags) {
  static_cast<void>(alignment);
  static_cast<void>(wanted);
  static_cast<void>(flags);
  if (size == 0) return ACL_ERROR_INVALID_PARAM;
  return ask_for(address, Call::kReserveMemAddress, {size});
}

aclError aclrtReleaseMemAddress(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kReleaseMemAddress, {word(address)});
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* properties, uint64_t flags) {
  static_cast<void>(flags);
  if (size == 0 || properties == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_on_device(properties)) return ACL_ERROR_API_NOT_SUPPORT;
  return ask_for(handle, Call::kMallocPhysical, {size, machine_device(properties->location.id)});
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kFreePhysical, {word(handle)});
}

aclError aclrtMapMem(void* address, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  static_cast<void>(flags);
  if (address == nullptr || handle == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kMapMem, {word(address), size, offset, word(handle)});
}

aclError aclrtUnmapMem(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kUnmapMem, {word(address)});
}

aclError aclrtMemSetAccess(void* address, size_t size, aclrtMemAccessDesc* descriptors,
                           size_t count) {
  if (address == nullptr || size == 0 || descriptors == nullptr || count == 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (descriptors[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
      return ACL_ERROR_API_NOT_SUPPORT;
    }
    const int status =
        ask(Call::kMemSetAccess, {word(address), size, machine_device(descriptors[i].location.id),
                                  static_cast<std::uint64_t>(descriptors[i].flags)});
    if (status != ACL_SUCCESS) return status;
  }
  return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType type,
                                         uint64_t flags, uint64_t* shareable) {
  static_cast<void>(type);
  static_cast<void>(flags);
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for(shareable, Call::kMemExport, {word(handle)});
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareable, int32_t device,
                                           aclrtDrvMemHandle* handle) {
  return ask_for(handle, Call::kMemImport, {shareable, machine_device(device)});
}

}  // extern "C"
