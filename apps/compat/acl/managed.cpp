// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/mem_virtual.h>

#include "apps/compat/acl/modules.hpp"

namespace {

bool is_place(const aclrtMemManagedLocation& location) {
  const auto type = static_cast<int>(location.type);
  return type >= ACL_MEM_LOCATIONTYPE_DEVICE && type <= ACL_MEM_LOCATIONTYPE_HOST_NUMA;
}

rtMemManagedLocation place_of(const aclrtMemManagedLocation& location) {
  return {static_cast<rtMemManagedLocationType>(location.type), location.id};
}

}  // namespace

extern "C" {

aclError aclrtMemAllocManaged(void** address, uint64_t size, uint32_t flag) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  if (flag != 1) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return rtMemAllocManaged(address, size, flag, npu::compat::kProgramModule);
}

aclError aclrtMemManagedAdvise(const void* address, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  const auto number = static_cast<int>(advise);
  if (address == nullptr || size == 0 || number < 0 || number > ACL_MEM_ADVISE_UNSET_ACCESSED_BY) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const bool needs_place =
      number == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION || number == ACL_MEM_ADVISE_SET_ACCESSED_BY;
  if (needs_place && !is_place(location)) return ACL_ERROR_INVALID_PARAM;
  return rtMemManagedAdvise(address, size, static_cast<uint16_t>(number), place_of(location));
}

aclError aclrtMemManagedPrefetchAsync(const void* address, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  if (address == nullptr || size == 0 || flags != 0 || !is_place(location)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtMemManagedPrefetchAsync(address, size, place_of(location), flags, stream);
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* address,
                                size_t size, void* data, size_t data_size) {
  const auto number = static_cast<int>(attribute);
  if (address == nullptr || size == 0 || data == nullptr || data_size < sizeof(int32_t) ||
      number < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
      number > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtMemManagedGetAttr(number, address, size, data, data_size);
}

}  // extern "C"
