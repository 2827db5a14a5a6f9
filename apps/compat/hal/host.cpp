// SPDX-License-Identifier: Apache-2.0
// Host memory that devices are to reach.
#include <map>
#include <mutex>

#include "apps/compat/client/pinned.hpp"
#include "apps/compat/client/signals_held.hpp"
#include "apps/compat/hal/outcome.hpp"

namespace npu::compat {
namespace {

struct Registered {
  std::uint32_t device = 0, flag = 0;
};

// Left alone at the process' end: threads may still be in calls.
struct Table {
  std::mutex lock;
  std::map<const void*, Registered> memories;  // by address
};
Table& table() {
  static Table* const kTable = new Table;
  return *kTable;
}

bool is_own(std::uint32_t flag) {
  return flag == HOST_MEM_MAP_DEV || flag == HOST_MEM_MAP_DEV_PCIE_TH;
}

bool is_registered(const void* source) {
  const Locked held(table().lock);
  return table().memories.count(source) != 0;
}

// Memory of MEM_HOST is pinned already.
drvError_t check_pinned(const void* source, std::uint64_t size) {
  const auto place = find_pinned(source);
  if (!place || place->left < size) return DRV_ERROR_INVALID_VALUE;
  return hal_ask<Call::kGetDevice>();  // the device is open
}

// `any`: whatever it was registered with.
drvError_t unregister(void* source, std::uint32_t device, std::uint32_t flag, bool any) {
  Registered known;
  {
    const Locked held(table().lock);
    const auto found = table().memories.find(source);
    if (found == table().memories.end() || found->second.device != device ||
        (!any && found->second.flag != flag)) {
      return DRV_ERROR_INVALID_VALUE;
    }
    known = found->second;
    table().memories.erase(found);
  }
  if (!is_own(known.flag)) return DRV_ERROR_NONE;
  const OnDevice on;
  return hal_error(unregister_pinned(source));
}

}  // namespace
}  // namespace npu::compat

extern "C" {

drvError_t halHostRegister(void* source, uint64_t size, uint32_t flag, uint32_t device,
                           void** mapped) {
  if (source == nullptr || size == 0 || mapped == nullptr || flag >= HOST_REGISTER_MAX_TPYE) {
    return DRV_ERROR_INVALID_VALUE;
  }
  if (flag == DEV_SVM_MAP_HOST || flag == DEV_MEM_MAP_HOST) return DRV_ERROR_NOT_SUPPORT;
  if (reinterpret_cast<std::uintptr_t>(source) % npu::compat::kHostPage != 0 ||
      npu::compat::is_registered(source)) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const npu::compat::OnDevice on(device);
  const auto failed = npu::compat::is_own(flag)
                          ? npu::compat::hal_error(npu::compat::register_pinned(source, size))
                          : npu::compat::check_pinned(source, size);
  if (failed != DRV_ERROR_NONE) return failed;
  const auto reached = npu::compat::hal_error(npu::compat::device_pointer(source, mapped));
  if (reached != DRV_ERROR_NONE) {
    if (npu::compat::is_own(flag)) static_cast<void>(npu::compat::unregister_pinned(source));
    return reached;
  }
  const npu::compat::Locked held(npu::compat::table().lock);
  npu::compat::table().memories[source] = {device, flag};
  return DRV_ERROR_NONE;
}

drvError_t halHostUnregister(void* source, uint32_t device) {
  return npu::compat::unregister(source, device, 0, true);
}

drvError_t halHostUnregisterEx(void* source, uint32_t device, uint32_t flag) {
  return npu::compat::unregister(source, device, flag, false);
}

}  // extern "C"
