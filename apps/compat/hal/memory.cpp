// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/copies.hpp"
#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::CopyKind;
using npu::compat::find_pinned;
using npu::compat::hal_ask;
using npu::compat::hal_ask_for;
using npu::compat::hal_error;
using npu::compat::kPageBytes;
using npu::compat::OnDevice;
using npu::compat::pointer_of;
using npu::compat::word;

namespace {

constexpr std::uint64_t kHbm = 1;               // as aclrtMemAttr numbers it
constexpr unsigned long long kAlignments = 21;  // log2 of a page

struct Flags {
  std::uint32_t device;
  unsigned long long kind, alignment, module;
};

Flags flags_of(unsigned long long word) {
  return {static_cast<std::uint32_t>(word & MEM_DEVICE_MASK), word >> MEM_VIRT_BIT & 0xF,
          word >> MEM_ALIGN_BIT & 0x1F, word >> MEM_MODULE_ID_BIT};
}

}  // namespace

extern "C" {

drvError_t halMemAlloc(void** address, unsigned long long size, unsigned long long flag) {
  if (address == nullptr || size == 0) return DRV_ERROR_INVALID_VALUE;
  const Flags flags = flags_of(flag);
  if (flags.alignment > kAlignments) return DRV_ERROR_NOT_SUPPORT;
  const OnDevice on(flags.device);
  switch (flags.kind) {
    case MEM_DEV_VAL:
      // Whole pages, so that another kind of alignment is of no consequence.
      if (size > UINT64_MAX - kPageBytes) return DRV_ERROR_INVALID_VALUE;
      return hal_ask_for<Call::kMalloc>(address, {size, 0, 0, 1, flags.module});
    case MEM_HOST_VAL:
      return hal_error(npu::compat::allocate_pinned(address, size));
    case MEM_SVM_VAL:
      return hal_error(npu::compat::allocate_managed(address, size, true, flags.module));
    case MEM_UVM_VAL:
      return hal_error(npu::compat::allocate_managed(address, size, false, flags.module));
    case MEM_HOST_AGENT_VAL:
    case MEM_HOST_UVA_VAL:
      return DRV_ERROR_NOT_SUPPORT;
    default:
      return DRV_ERROR_INVALID_MALLOC_TYPE;
  }
}

drvError_t halMemFree(void* address) {
  if (address == nullptr) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  if (find_pinned(address)) return hal_error(npu::compat::free_pinned(address));
  return hal_ask<Call::kFree>({word(address)});
}

DVresult drvMemcpy(DVdeviceptr to, size_t max, DVdeviceptr from, size_t count) {
  if (count == 0 || to == 0 || from == 0 || max < count) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  return hal_error(
      npu::compat::copy_bytes(pointer_of(to), pointer_of(from), count, CopyKind::kDefault, {}));
}

drvError_t halMemcpy(void* to, size_t max, void* from, size_t count, struct memcpy_info* info) {
  if (to == nullptr || from == nullptr || info == nullptr || count == 0 || max < count) {
    return DRV_ERROR_INVALID_VALUE;
  }
  if (info->dir != DRV_MEMCPY_DEVICE_TO_HOST) return DRV_ERROR_NOT_SUPPORT;
  const OnDevice on(info->devid);
  return hal_error(npu::compat::copy_bytes(to, from, count, CopyKind::kDeviceToHost, {}));
}

// From one place of the card's to another, or to one of another card's.
drvError_t halSdmaCopy(DVdeviceptr to, size_t max, DVdeviceptr from, size_t count) {
  if (count == 0 || to == 0 || from == 0 || max < count) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  return hal_ask<Call::kCopyOnDevice>({to, from, count, {}});
}

drvError_t halMemAdvise(DVdeviceptr address, size_t count, unsigned int type, DVdevice device) {
  if (address == 0 || count == 0) return DRV_ERROR_INVALID_VALUE;
  if (type >= ADVISE_TYPE_MAX) return DRV_ERROR_NOT_SUPPORT;
  const OnDevice on(device);
  return hal_ask<Call::kMemoryAdvise>({address, count, type});
}

DVresult drvMemsetD8(DVdeviceptr to, size_t max, uint8_t value, size_t count) {
  if (to == 0 || count == 0 || count > max) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on;
  return hal_error(npu::compat::fill_bytes(pointer_of(to), value, count, {}));
}

DVresult halMemGetInfoEx(DVdevice device, unsigned int type, struct MemInfo* info) {
  if (info == nullptr) return DRV_ERROR_INVALID_VALUE;
  if (type != MEM_INFO_TYPE_DDR_SIZE && type != MEM_INFO_TYPE_HBM_SIZE) {
    return DRV_ERROR_NOT_SUPPORT;
  }
  const OnDevice on(device);
  npu::compat::wire::MemoryInfo hbm;
  const auto failed = hal_ask<Call::kGetMemInfo>({kHbm}, &hbm);
  if (failed != DRV_ERROR_NONE) return failed;
  *info = {};
  if (type == MEM_INFO_TYPE_DDR_SIZE) return DRV_ERROR_NONE;
  auto& memory = info->phy_info;
  memory.huge_free = memory.giant_free = hbm.free;
  memory.huge_total = memory.giant_total = hbm.total;
  return DRV_ERROR_NONE;
}

DVresult halMemGetInfo(DVdevice device, unsigned int type, struct MemInfo* info) {
  return halMemGetInfoEx(device, type, info);
}

DVresult drvMemGetAttribute(DVdeviceptr address, struct DVattribute* attribute) {
  if (address == 0 || attribute == nullptr) return DRV_ERROR_INVALID_VALUE;
  *attribute = {};
  attribute->pageSize = npu::compat::kHostPage;
  if (find_pinned(pointer_of(address))) {
    attribute->memType = DV_MEM_LOCK_HOST;
    return DRV_ERROR_NONE;
  }
  const OnDevice on;
  npu::compat::wire::PointerAttributes there;
  const auto failed = hal_ask<Call::kPointerAttributes>({address}, &there);
  if (failed != DRV_ERROR_NONE) return failed;
  const bool on_device = there.location == npu::compat::wire::kLocationDevice;
  if (!on_device && there.location != npu::compat::wire::kLocationManaged) {
    attribute->memType = DV_MEM_USER_MALLOC;
    return DRV_ERROR_NONE;
  }
  attribute->devId = static_cast<std::uint32_t>(there.device);
  attribute->pageSize = static_cast<std::uint32_t>(there.page_bytes);
  if (on_device) {
    attribute->memType = DV_MEM_LOCK_DEV;
  } else if (there.heap == 0) {
    attribute->memType = DV_MEM_UVM;
  } else {
    attribute->memType = there.page == npu::compat::wire::kPageOnDevice ? DV_MEM_SVM_DEVICE
                         : there.page == npu::compat::wire::kPageOnHost ? DV_MEM_SVM_HOST
                                                                        : DV_MEM_SVM;
  }
  return DRV_ERROR_NONE;
}

}  // extern "C"
