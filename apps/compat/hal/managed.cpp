// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "apps/compat/client/heap.hpp"
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::hal_ask;
using npu::compat::OnDevice;

namespace {

constexpr std::size_t kMostRanges = 4096, kMostPlaces = 64;

// INVALID_VALUE: it is in the other heap, or in none.
drvError_t check_heap(DVdeviceptr address, bool heap) {
  npu::compat::PagePlace place;
  const auto failed = npu::compat::hal_error(npu::compat::look_at(address, &place));
  if (failed != DRV_ERROR_NONE) return failed;
  return place.managed && place.heap == heap ? DRV_ERROR_NONE : DRV_ERROR_INVALID_VALUE;
}

npu::compat::wire::Location location_of(const drv_uvm_location& location) {
  return {static_cast<std::uint64_t>(location.type), static_cast<std::uint32_t>(location.id)};
}

drvError_t prefetch(DVdeviceptr address, std::size_t size, const drv_uvm_location& to) {
  return hal_ask<Call::kManagedPrefetch>({address, size, location_of(to), 0, 1});
}

bool is_place(const drv_uvm_location& place) {
  return place.type == DRV_UVM_LOCATION_TYPE_HOST ||
         place.type == DRV_UVM_LOCATION_TYPE_HOST_NUMA ||
         (place.type == DRV_UVM_LOCATION_TYPE_DEVICE && place.id >= 0);
}

// The indices grow from 0 on, and every one is of a range.
bool is_partition(const std::size_t* index, std::size_t places, std::size_t ranges) {
  if (index[0] != 0) return false;
  for (std::size_t i = 1; i < places; ++i) {
    if (index[i] <= index[i - 1] || index[i] >= ranges) return false;
  }
  return true;
}

}  // namespace

extern "C" {

DVresult drvMemPrefetchToDevice(DVdeviceptr address, size_t length, DVdevice device) {
  return npu::compat::hal_error(npu::compat::prefetch_heap(address, length, device));
}

drvError_t halMemManagedPrefetch(DVdeviceptr address, size_t size, struct drv_uvm_location to,
                                 uint32_t flags) {
  if (address == 0 || size == 0 || flags != 0 || !is_place(to)) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  if (const auto wrong = check_heap(address, false); wrong != DRV_ERROR_NONE) return wrong;
  return prefetch(address, size, to);
}

drvError_t halMemManagedPrefetchBatch(DVdeviceptr* addresses, size_t* sizes, size_t count,
                                      struct drv_uvm_location* locations, size_t* location_index,
                                      size_t location_count, uint64_t flags) {
  if (addresses == nullptr || sizes == nullptr || locations == nullptr ||
      location_index == nullptr || count == 0 || count > kMostRanges || location_count == 0 ||
      location_count > kMostPlaces || flags != 0 ||
      !is_partition(location_index, location_count, count)) {
    return DRV_ERROR_INVALID_VALUE;
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    while (place + 1 < location_count && location_index[place + 1] <= i) ++place;
    const auto failed = halMemManagedPrefetch(addresses[i], sizes[i], locations[place], 0);
    if (failed != DRV_ERROR_NONE) return failed;
  }
  return DRV_ERROR_NONE;
}

drvError_t halMemManagedAdvise(DVdeviceptr address, size_t size, uint32_t advise,
                               struct drv_uvm_location location) {
  if (address == 0 || size == 0) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  if (const auto wrong = check_heap(address, false); wrong != DRV_ERROR_NONE) return wrong;
  return hal_ask<Call::kManagedAdvise>({address, size, advise, location_of(location)});
}

drvError_t halMemManagedRangeGetAttributes(void** data, size_t* sizes, uint32_t* attributes,
                                           size_t count, DVdeviceptr address, size_t size) {
  if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0 || address == 0 ||
      size == 0) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const OnDevice on;
  if (const auto wrong = check_heap(address, false); wrong != DRV_ERROR_NONE) return wrong;
  for (std::size_t i = 0; i < count; ++i) {
    if (data[i] == nullptr || sizes[i] < sizeof(std::int32_t)) return DRV_ERROR_INVALID_VALUE;
    std::int32_t value = 0;
    const auto failed =
        hal_ask_for<Call::kManagedAttribute>(&value, {address, size, attributes[i]});
    if (failed != DRV_ERROR_NONE) return failed;
    std::memcpy(data[i], &value, sizeof value);
  }
  return DRV_ERROR_NONE;
}

}  // extern "C"
