// SPDX-License-Identifier: Apache-2.0
// Buffers: blocks of zones.
#include <atomic>

#include "apps/compat/hal/buffers.hpp"

namespace npu::compat {

int allocate_buffer(std::uint64_t size, unsigned align, unsigned long flag, bool any_device,
                    void** buffer) {
  constexpr unsigned kDefault = 64;
  constexpr unsigned long kDevices = 0xF;
  constexpr unsigned long kKinds =
      BUFF_SP_HUGEPAGE_PRIOR | BUFF_SP_HUGEPAGE_ONLY | BUFF_SP_DVPP | BUFF_SP_SVM;
  if (align == 0) align = kDefault;
  const unsigned long kind = flag & UINT32_MAX, device = flag >> BUFF_FLAGS_DEVID_OFFSET;
  if (buffer == nullptr || size == 0 || (align & (align - 1)) != 0 || align > kPageBytes ||
      (kind & ~kKinds) != 0 || device > kDevices) {
    return DRV_ERROR_INVALID_VALUE;
  }
  if ((kind & BUFF_SP_DVPP) != 0) return DRV_ERROR_NOT_SUPPORT;
  const Zones::Kind of = {(kind & BUFF_SP_SVM) != 0, any_device,
                          static_cast<std::uint32_t>(device)};
  return Zones::all().allocate(of, size, align, buffer);
}

}  // namespace npu::compat

extern "C" {

int halBuffInit(BuffCfg* config) {
  static_cast<void>(config);
  static std::atomic<bool> done{false};
  return done.exchange(true) ? DRV_ERROR_REPEATED_INIT : DRV_ERROR_NONE;
}

int halBuffAlloc(uint64_t size, void** buffer) {
  return npu::compat::allocate_buffer(size, 0, BUFF_SP_NORMAL, true, buffer);
}

int halBuffAllocAlign(uint64_t size, unsigned int align, void** buffer) {
  return npu::compat::allocate_buffer(size, align, BUFF_SP_NORMAL, true, buffer);
}

int halBuffAllocEx(uint64_t size, unsigned long flag, int group, void** buffer) {
  static_cast<void>(group);
  return npu::compat::allocate_buffer(size, 0, flag, false, buffer);
}

int halBuffAllocAlignEx(uint64_t size, unsigned int align, unsigned long flag, int group,
                        void** buffer) {
  static_cast<void>(group);
  return npu::compat::allocate_buffer(size, align, flag, false, buffer);
}

int halBuffFree(void* buffer) {
  return npu::compat::Zones::all().free(buffer);
}

}  // extern "C"
