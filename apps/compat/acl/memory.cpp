// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <acl/npusim_memory.h>
#include <runtime/mem.h>
#include <runtime/npusim_rt.h>

#include "apps/compat/acl/modules.hpp"

namespace {

constexpr size_t kGrain = 32;

bool is_policy(aclrtMemMallocPolicy policy) {
  const auto number = static_cast<int>(policy);
  return number >= 0 && number <= ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
}

bool is_valid(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return address != nullptr && size != 0 && size <= SIZE_MAX - 2 * kGrain && is_policy(policy);
}

size_t rounded(size_t size) {
  return (size + kGrain - 1) / kGrain * kGrain;
}

// The runtime has a bit for each policy, in their order.
rtMemType_t type_of(aclrtMemMallocPolicy policy) {
  return RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_FIRST << static_cast<unsigned>(policy);
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy) {
  if (!is_valid(address, size, policy)) return ACL_ERROR_INVALID_PARAM;
  return rtMalloc(address, rounded(size) + kGrain, type_of(policy) | NPUSIM_RT_MEMORY_PADDED,
                  npu::compat::kProgramModule);
}

aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy) {
  if (!is_valid(address, size, policy)) return ACL_ERROR_INVALID_PARAM;
  return rtMalloc(address, rounded(size), type_of(policy), npu::compat::kProgramModule);
}

aclError aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy) {
  if (!is_valid(address, size, policy)) return ACL_ERROR_INVALID_PARAM;
  return rtMallocCached(address, rounded(size) + kGrain, type_of(policy) | NPUSIM_RT_MEMORY_PADDED,
                        npu::compat::kProgramModule);
}

aclError aclrtMallocWithCfg(void** address, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig* config) {
  npu::compat::Allocation wanted;
  if (!is_valid(address, size, policy) || !npu::compat::read(config, &wanted)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  rtMallocAttribute_t attributes[2] = {};
  attributes[0].attr = RT_MEM_MALLOC_ATTR_MODULE_ID;
  attributes[0].value.moduleId = wanted.module;
  attributes[1].attr = RT_MEM_MALLOC_ATTR_DEVICE_ID;
  attributes[1].value.deviceId = static_cast<uint32_t>(wanted.device);
  const rtMallocConfig_t all = {attributes, wanted.device < 0 ? size_t{1} : size_t{2}};
  return rtsMalloc(
      address, rounded(size) + kGrain,
      static_cast<rtMallocPolicy>(static_cast<unsigned>(policy) | NPUSIM_RT_MEMORY_PADDED),
      RT_MEM_ADVISE_NONE, &all);
}

aclError aclrtFree(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtFree(address);
}

aclError aclrtMemset(void* address, size_t max, int32_t value, size_t count) {
  if (address == nullptr || count > max) return ACL_ERROR_INVALID_PARAM;
  return rtMemset(address, max, static_cast<uint32_t>(value), count);
}

aclError aclrtMemsetAsync(void* address, size_t max, int32_t value, size_t count,
                          aclrtStream stream) {
  if (address == nullptr || count > max) return ACL_ERROR_INVALID_PARAM;
  return rtMemsetAsync(address, max, static_cast<uint32_t>(value), count, stream);
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total) {
  const auto number = static_cast<int>(attribute);
  if (free == nullptr || total == nullptr || number < 0 || number > ACL_HBM_MEM_P2P_HUGE1G) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtMemGetInfoEx(static_cast<rtMemInfoType_t>(attribute), free, total);
}

static_assert(sizeof(aclrtMemUsageInfo) == sizeof(rtMemUsageInfo_t));
aclError aclrtGetMemUsageInfo(int32_t device, aclrtMemUsageInfo* info, size_t room, size_t* count) {
  if (info == nullptr || room == 0 || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  // The two are the same bytes.
  return rtGetMemUsageInfo(static_cast<uint32_t>(device), reinterpret_cast<rtMemUsageInfo_t*>(info),
                           room, count);
}

aclError aclrtMemGetAddressRange(void* address, void** begin, size_t* size) {
  if (address == nullptr || (begin == nullptr && size == nullptr)) return ACL_ERROR_INVALID_PARAM;
  return rtMemGetAddressRange(address, begin, size);
}

aclError npusimGetMemoryUse(npusim_memory_use* use) {
  if (use == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t all[4] = {};
  const aclError status = npusimRtMemoryUse(all);
  if (status == ACL_SUCCESS) *use = {all[0], all[1], all[2], all[3]};
  return status;
}

aclError npusimLimitMemory(uint64_t bytes) {
  return npusimRtLimitMemory(bytes);
}

aclError aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes) {
  if (address == nullptr || attributes == nullptr) return ACL_ERROR_INVALID_PARAM;
  rtPointerAttributes_t found = {};
  *attributes = {};
  const aclError status = rtPointerGetAttributes(&found, address);
  if (status != ACL_SUCCESS) return status;
  attributes->location.type = static_cast<aclrtMemLocationType>(found.locationType);
  attributes->location.id = found.deviceID;
  attributes->pageSize = found.pageSize;
  return ACL_SUCCESS;
}

}  // extern "C"
