// SPDX-License-Identifier: Apache-2.0
#include <runtime/mem.h>

#include <cstring>

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/module_uses.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/visible_devices.hpp"

namespace npu::compat {
namespace {

constexpr rtMemType_t kKindBits = 0x3FF;
constexpr std::uint32_t kBadPolicy = UINT32_MAX;

bool is_kind(rtMemType_t kind) {
  switch (kind) {
    case RT_MEMORY_DEFAULT:
    case RT_MEMORY_HBM:
    case RT_MEMORY_DDR:
    case RT_MEMORY_P2P_HBM:
    case RT_MEMORY_P2P_DDR:
    case RT_MEMORY_TS:
    case RT_MEMORY_SVM:
      return true;
    default:
      return false;
  }
}

// As the ACL numbers them, which is the order of the bits.
std::uint32_t policy_of(rtMemType_t bits) {
  if (bits == RT_MEMORY_POLICY_NONE) return 0;
  for (std::uint32_t policy = 0; policy < 8; ++policy) {
    if (bits == RT_MEMORY_POLICY_HUGE_PAGE_FIRST << policy) return policy;
  }
  return kBadPolicy;
}

rtError_t allocate(void** address, std::uint64_t size, rtMemType_t type, std::uint16_t module) {
  constexpr std::uint32_t kPadding = 32;
  const auto policy = policy_of(type & ~(kKindBits | NPUSIM_RT_MEMORY_PADDED));
  const std::uint32_t padding = (type & NPUSIM_RT_MEMORY_PADDED) != 0 ? kPadding : 0;
  if (address == nullptr || size == 0 || !is_kind(type & kKindBits) || policy == kBadPolicy) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if ((type & kKindBits) == RT_MEMORY_SVM) {
    return rt_error(allocate_managed(address, size, true, module));
  }
  return rt_ask_for<Call::kMalloc>(address, {size, policy, padding, 0, module});
}

// What a configuration says. 107000: one without attributes but with a number of them, or an
// attribute that is none.
struct Configured {
  std::uint16_t module = 0;
  std::int64_t device = -1;  // the program's number; -1: the context's
};
rtError_t read_attributes(const rtMallocConfig_t* config, Configured* all) {
  if (config == nullptr || config->numAttrs == 0) return RT_ERROR_NONE;
  if (config->attrs == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  for (std::size_t i = 0; i < config->numAttrs; ++i) {
    const auto& each = config->attrs[i];
    switch (static_cast<int>(each.attr)) {
      case RT_MEM_MALLOC_ATTR_RSV:
      case RT_MEM_MALLOC_ATTR_VA_FLAG:  // of no effect for device memory
        break;
      case RT_MEM_MALLOC_ATTR_MODULE_ID:
        all->module = each.value.moduleId;
        break;
      case RT_MEM_MALLOC_ATTR_DEVICE_ID:
        all->device = each.value.deviceId;
        break;
      default:
        return ACL_ERROR_RT_PARAM_INVALID;
    }
  }
  return RT_ERROR_NONE;
}

// Of rtMallocPolicy; kBadPolicy as a type that rtMalloc() refuses.
rtMemType_t type_of(rtMallocPolicy policy) {
  const unsigned number = static_cast<unsigned>(policy) & ~NPUSIM_RT_MEMORY_PADDED;
  const unsigned padded = static_cast<unsigned>(policy) & NPUSIM_RT_MEMORY_PADDED;
  if (number == RT_MEM_TYPE_LOW_BAND_WIDTH) return RT_MEMORY_DDR | padded;
  if (number == RT_MEM_TYPE_HIGH_BAND_WIDTH) return RT_MEMORY_HBM | padded;
  if (number > RT_MEM_MALLOC_HUGE1G_ONLY_P2P) return kKindBits;
  return RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_FIRST << number | padded;
}

}  // namespace
}  // namespace npu::compat

using npu::compat::Call;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::rt_error;
using npu::compat::word;

extern "C" {

rtError_t rtMalloc(void** address, uint64_t size, rtMemType_t type, const uint16_t module) {
  return npu::compat::allocate(address, size, type, module);
}

rtError_t rtMallocCached(void** address, uint64_t size, rtMemType_t type, const uint16_t module) {
  return npu::compat::allocate(address, size, type, module);
}

rtError_t rtFree(void* address) {
  if (address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  return rt_ask<Call::kFree>({word(address)});
}

// By rtMalloc(), which others may have put themselves in front of.
rtError_t rtsMalloc(void** address, uint64_t size, rtMallocPolicy policy, rtMallocAdvise advise,
                    const rtMallocConfig_t* config) {
  npu::compat::Configured all;
  if (const auto wrong = npu::compat::read_attributes(config, &all); wrong != RT_ERROR_NONE)
    return wrong;
  const auto number = static_cast<int>(advise);
  if (number < RT_MEM_ADVISE_NONE || number > RT_MEM_ADVISE_CACHED) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (advise == RT_MEM_ADVISE_DVPP) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  const auto call = advise == RT_MEM_ADVISE_CACHED ? rtMallocCached : rtMalloc;
  const auto type = npu::compat::type_of(policy);
  if (all.device < 0) return call(address, size, type, all.module);
  const auto machine = npu::compat::machine_device(all.device);
  if (machine < 0 || machine > UINT32_MAX) return ACL_ERROR_RT_INVALID_DEVICEID;
  const npu::compat::OnDevice on(static_cast<std::uint32_t>(machine));
  return call(address, size, type, all.module);
}

rtError_t rtMemGetInfoEx(rtMemInfoType_t type, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  npu::compat::wire::MemoryInfo memory;
  const rtError_t status = rt_ask<Call::kGetMemInfo>({static_cast<std::uint64_t>(type)}, &memory);
  if (status != RT_ERROR_NONE) return status;
  *free = memory.free;
  *total = memory.total;
  return RT_ERROR_NONE;
}

rtError_t rtMemGetInfo(size_t* free, size_t* total) {
  return rtMemGetInfoEx(RT_MEMORYINFO_HBM, free, total);
}

rtError_t rtGetMemUsageInfo(uint32_t device, rtMemUsageInfo_t* info, size_t room, size_t* count) {
  if (info == nullptr || room == 0 || count == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  std::size_t modules = 0;
  const rtError_t status =
      rt_ask_for<Call::kModuleUse>(&modules, {npu::compat::machine_device(device)});
  if (status != RT_ERROR_NONE) return status;
  *count = npu::compat::each_module(modules, room, [info](std::size_t i, const auto& use) {
    info[i] = {};
    std::memcpy(info[i].name, use.name, sizeof use.name);
    info[i].curMemSize = use.now;
    info[i].memPeakSize = use.most;
  });
  return RT_ERROR_NONE;
}

rtError_t rtPointerGetAttributes(rtPointerAttributes_t* attributes, const void* address) {
  if (attributes == nullptr || address == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  *attributes = {RT_MEMORY_TYPE_HOST, RT_MEMORY_LOC_HOST, 0, 4096};
  if (npu::compat::find_pinned(address)) return RT_ERROR_NONE;
  npu::compat::wire::PointerAttributes there;
  const rtError_t status = rt_ask<Call::kPointerAttributes>({word(address)}, &there);
  if (status != RT_ERROR_NONE) return status;
  const auto location = static_cast<rtMemLocationType>(there.location);
  attributes->memoryType = location == RT_MEMORY_LOC_DEVICE    ? RT_MEMORY_TYPE_DEVICE
                           : location == RT_MEMORY_LOC_MANAGED ? RT_MEMORY_TYPE_SVM
                                                               : RT_MEMORY_TYPE_USER;
  attributes->locationType = location;
  attributes->pageSize = static_cast<std::uint32_t>(there.page_bytes);
  attributes->deviceID = npu::compat::own_device(there.device);
  return RT_ERROR_NONE;
}

rtError_t rtMemGetAddressRange(void* address, void** begin, size_t* size) {
  if (address == nullptr || (begin == nullptr && size == nullptr)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  npu::compat::wire::Range range;
  const rtError_t status = rt_ask<Call::kAddressRange>({word(address)}, &range);
  if (status != RT_ERROR_NONE) return status;
  if (begin != nullptr) *begin = npu::compat::pointer(range.address);
  if (size != nullptr) *size = range.bytes;
  return RT_ERROR_NONE;
}

}  // extern "C"
