// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include <cstring>

#include "compat/acl/visible_devices.hpp"
#include "compat/client/managed_view.hpp"
#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

namespace {

// Of a device the machine's; NUMA nodes of the host are the machine's anyway.
std::uint64_t number_of(const aclrtMemManagedLocation& location) {
  if (location.type != ACL_MEM_LOCATIONTYPE_DEVICE) {
    return static_cast<std::uint32_t>(location.id);
  }
  return static_cast<std::uint32_t>(npu::compat::machine_device(location.id));
}

bool names_device(aclrtMemManagedRangeAttribute attribute) {
  return attribute != ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
         attribute != ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE &&
         attribute != ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
}

}  // namespace

extern "C" {

aclError aclrtMemAllocManaged(void** address, uint64_t size, uint32_t flag) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  if (flag != 1) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return npu::compat::allocate_managed(address, size, false);
}

aclError aclrtMemManagedAdvise(const void* address, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kManagedAdvise,
             {word(address), size, static_cast<std::uint64_t>(advise),
              static_cast<std::uint64_t>(location.type), number_of(location)});
}

aclError aclrtMemManagedPrefetchAsync(const void* address, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  if (address == nullptr || size == 0 || flags != 0) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kManagedPrefetch,
             {word(address), size, static_cast<std::uint64_t>(location.type), number_of(location),
              word(stream), 0});
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* address,
                                size_t size, void* data, size_t data_size) {
  if (address == nullptr || size == 0 || data == nullptr || data_size < sizeof(std::int32_t)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const int status =
      ask(Call::kManagedAttribute, {word(address), size, static_cast<std::uint64_t>(attribute)});
  if (status != ACL_SUCCESS) return status;
  auto value = static_cast<std::int32_t>(answer());
  if (value >= 0 && names_device(attribute)) {
    value = static_cast<std::int32_t>(npu::compat::own_device(static_cast<std::uint32_t>(value)));
  }
  std::memcpy(data, &value, sizeof value);
  return ACL_SUCCESS;
}

}  // extern "C"
