// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/driver_settings.hpp"

#include <algorithm>
#include <iterator>

namespace npu::exec::acl {
namespace {

using compat::Call;
using driver::DeviceFeatures;

struct Row {
  Call call;
  bool DeviceFeatures::*feature;
  const char* name;
};

constexpr Row kRows[] = {
    {Call::kMallocManaged, &DeviceFeatures::managed_memory, "support_managed_svm"},
    {Call::kManagedPrefetch, &DeviceFeatures::managed_prefetch, "support_mem_prefetch_to_device"},
    {Call::kManagedAdvise, &DeviceFeatures::managed_advice, "support_mem_advise_effective"},
    {Call::kFaultErrors, &DeviceFeatures::fault_counter, "support_page_fault_counter"},
    {Call::kReserveMemAddress, &DeviceFeatures::reservations, "support_vmm_reserve_map"},
    {Call::kMallocPhysical, &DeviceFeatures::reservations, "support_vmm_reserve_map"},
    {Call::kMapMem, &DeviceFeatures::reservations, "support_vmm_reserve_map"},
    {Call::kMemImport, &DeviceFeatures::reservations, "support_vmm_reserve_map"},
    {Call::kSetResLimit, &DeviceFeatures::core_limits, "support_device_stream_res_limit"},
    {Call::kResetResLimit, &DeviceFeatures::core_limits, "support_device_stream_res_limit"},
};

}  // namespace

const char* switched_off(Call call, const DeviceFeatures& features) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) {
    return each.call == call && !(features.*each.feature);
  });
  return row == std::end(kRows) ? nullptr : row->name;
}

}  // namespace npu::exec::acl
