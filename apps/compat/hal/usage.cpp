// SPDX-License-Identifier: Apache-2.0
// What there is at an address, and who has how much.
#include <cstring>

#include "apps/compat/client/module_uses.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::hal_ask;
using npu::compat::OnDevice;

extern "C" {

drvError_t halMemGetAddressRange(DVdeviceptr address, DVdeviceptr* begin, size_t* size) {
  if (address == 0 || (begin == nullptr && size == nullptr)) return DRV_ERROR_INVALID_VALUE;
  if (const auto own = npu::compat::find_pinned(npu::compat::pointer_of(address))) {
    if (begin != nullptr) *begin = address - own->from_begin;
    if (size != nullptr) *size = own->from_begin + own->left;
    return DRV_ERROR_NONE;
  }
  const OnDevice on;
  npu::compat::wire::Range range;
  const auto failed = hal_ask<Call::kAddressRange>({address}, &range);
  if (failed != DRV_ERROR_NONE) return failed;
  if (begin != nullptr) *begin = range.address;
  if (size != nullptr) *size = range.bytes;
  return DRV_ERROR_NONE;
}

drvError_t halGetMemUsageInfo(uint32_t device, struct mem_module_usage* usage, size_t room,
                              size_t* count) {
  if (usage == nullptr || room == 0 || count == nullptr) return DRV_ERROR_INVALID_VALUE;
  const OnDevice on(device);
  std::size_t modules = 0;
  const auto failed = hal_ask_for<Call::kModuleUse>(&modules, {device});
  if (failed != DRV_ERROR_NONE) return failed;
  *count = npu::compat::each_module(modules, room, [usage](std::size_t i, const auto& use) {
    usage[i] = {};
    std::memcpy(usage[i].name, use.name, sizeof use.name);
    usage[i].cur_mem_size = use.now;
    usage[i].mem_peak_size = use.most;
  });
  return DRV_ERROR_NONE;
}

}  // extern "C"
