// SPDX-License-Identifier: Apache-2.0
#include <runtime/mem_virtual.h>

#include <cstring>

#include "apps/compat/client/heap.hpp"
#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

using npu::compat::Call;
using npu::compat::machine_device;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::word;

namespace {

// Of a device the machine's number; NUMA nodes of the host are the machine's anyway.
npu::compat::wire::Location location_of(const rtMemManagedLocation& location) {
  const bool device = location.type == RT_MEMORY_LOCATION_DEVICE;
  return {static_cast<std::uint64_t>(location.type),
          static_cast<std::uint32_t>(device ? machine_device(location.id) : location.id)};
}

// Of attributes 1 .. 8 those that are no device: read-mostly, types of places.
bool names_device(std::int32_t attribute) {
  return attribute != 1 && attribute != 4 && attribute != 7;
}

}  // namespace

extern "C" {

rtError_t rtMemAllocManaged(void** address, uint64_t size, uint32_t flag, const uint16_t module) {
  if (address == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  if (flag > 1) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return npu::compat::rt_error(npu::compat::allocate_managed(address, size, flag == 0, module));
}

rtError_t rtMemFreeManaged(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kFree>({word(address)});
}

rtError_t rtMemPrefetchToDevice(void* address, uint64_t length, int32_t device) {
  return npu::compat::rt_error(
      npu::compat::prefetch_heap(word(address), length, machine_device(device)));
}

rtError_t rtMemAdvise(void* address, uint64_t count, uint32_t advise) {
  if (address == nullptr || count == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kMemoryAdvise>({word(address), count, advise});
}

rtError_t rtMemManagedAdvise(const void* address, uint64_t size, uint16_t advise,
                             rtMemManagedLocation location) {
  if (address == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kManagedAdvise>({word(address), size, advise, location_of(location)});
}

rtError_t rtMemManagedPrefetchAsync(const void* address, size_t size, rtMemManagedLocation location,
                                    uint32_t flags, rtStream_t stream) {
  if (address == nullptr || size == 0 || flags != 0) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kManagedPrefetch>(
      {word(address), size, location_of(location), word(stream), 0});
}

rtError_t rtMemManagedGetAttr(int32_t attribute, const void* address, size_t size, void* data,
                              size_t data_size) {
  if (address == nullptr || size == 0 || data == nullptr || data_size < sizeof(std::int32_t)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  std::int32_t value = 0;
  const rtError_t status = rt_ask_for<Call::kManagedAttribute>(
      &value, {word(address), size, static_cast<std::uint32_t>(attribute)});
  if (status != RT_ERROR_NONE) return status;
  if (value >= 0 && names_device(attribute)) {
    value = static_cast<std::int32_t>(npu::compat::own_device(static_cast<std::uint32_t>(value)));
  }
  std::memcpy(data, &value, sizeof value);
  return RT_ERROR_NONE;
}

}  // extern "C"
