// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::hal_ask;
using npu::compat::hal_ask_for;
using npu::compat::kPageBytes;
using npu::compat::OnDevice;
using npu::compat::word;

extern "C" {

drvError_t halMemAddressReserve(void** range, size_t size, size_t alignment, void* address,
                                uint64_t flag) {
  if (range == nullptr || size == 0) return DRV_ERROR_INVALID_VALUE;
  if (alignment != 0 || address != nullptr || flag != 0) return DRV_ERROR_NOT_SUPPORT;
  const OnDevice on;
  return hal_ask_for<Call::kReserveMemAddress>(range, {size});
}

drvError_t halMemAddressFree(void* range) {
  if (range == nullptr) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  return hal_ask<Call::kReleaseMemAddress>({word(range)});
}

drvError_t halMemCreate(drv_mem_handle_t** handle, size_t size, const struct drv_mem_prop* prop,
                        uint64_t flag) {
  if (handle == nullptr || prop == nullptr || size == 0 || flag != 0) {
    return DRV_ERROR_INVALID_VALUE;
  }
  if (prop->side != MEM_DEV_SIDE) return DRV_ERROR_NOT_SUPPORT;
  const OnDevice on(prop->devid);
  return hal_ask_for<Call::kMallocPhysical>(handle, {size, prop->devid, prop->module_id});
}

drvError_t halMemRelease(drv_mem_handle_t* handle) {
  if (handle == nullptr) return DRV_ERROR_INVALID_VALUE;
  return hal_ask<Call::kFreePhysical>({word(handle)});
}

drvError_t halMemMap(void* address, size_t size, size_t offset, drv_mem_handle_t* handle,
                     uint64_t flag) {
  if (address == nullptr || handle == nullptr || size == 0 || flag != 0) {
    return DRV_ERROR_INVALID_VALUE;
  }
  return hal_ask<Call::kMapMem>({word(address), size, offset, word(handle)});
}

drvError_t halMemUnmap(void* address) {
  if (address == nullptr) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  return hal_ask<Call::kUnmapMem>({word(address)});
}

drvError_t halMemSetAccess(void* address, size_t size, struct drv_mem_access_desc* descriptors,
                           size_t count) {
  if (address == nullptr || size == 0 || descriptors == nullptr || count == 0) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const OnDevice on;
  for (std::size_t i = 0; i < count; ++i) {
    if (descriptors[i].location.side != MEM_DEV_SIDE) return DRV_ERROR_NOT_SUPPORT;
    const auto failed =
        hal_ask<Call::kMemSetAccess>({word(address), size, descriptors[i].location.id,
                                      static_cast<std::uint64_t>(descriptors[i].type)});
    if (failed != DRV_ERROR_NONE) return failed;
  }
  return DRV_ERROR_NONE;
}

drvError_t halMemExportToShareableHandle(drv_mem_handle_t* handle, drv_mem_handle_type type,
                                         uint64_t flags, uint64_t* shareable) {
  if (handle == nullptr || shareable == nullptr || flags != 0) return DRV_ERROR_INVALID_VALUE;
  if (type != MEM_HANDLE_TYPE_NONE) return DRV_ERROR_NOT_SUPPORT;
  return hal_ask_for<Call::kMemExport>(shareable, {word(handle)});
}

drvError_t halMemImportFromShareableHandle(uint64_t shareable, uint32_t device,
                                           drv_mem_handle_t** handle) {
  if (handle == nullptr) return DRV_ERROR_INVALID_VALUE;
  return hal_ask_for<Call::kMemImport>(handle, {shareable, device});
}

drvError_t halMemGetAllocationGranularity(const struct drv_mem_prop* prop,
                                          drv_mem_granularity_options option, size_t* granularity) {
  if (prop == nullptr || granularity == nullptr || static_cast<int>(option) < 0 ||
      option > MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return DRV_ERROR_INVALID_VALUE;
  }
  *granularity = kPageBytes;
  return DRV_ERROR_NONE;
}

}  // extern "C"
