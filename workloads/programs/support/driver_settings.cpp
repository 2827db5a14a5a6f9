// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/driver_settings.hpp"

#include <fmt/format.h>

namespace npu::workloads {

driver::DeviceFeatures features_of(const model::DriverFeatureConfig& keys) {
  driver::DeviceFeatures features;
  features.managed_memory = keys.support_managed_svm;
  features.managed_prefetch = keys.support_mem_prefetch_to_device;
  features.managed_advice = keys.support_mem_advise_effective;
  features.host_pages = keys.support_host_uva_flag;
  features.fault_counter = keys.support_page_fault_counter;
  features.resident_bytes = keys.resident_metric_available;
  features.managed_quota = keys.svm_alloc_enforceable;
  features.reservations = keys.support_vmm_reserve_map;
  features.core_limits = keys.support_device_stream_res_limit;
  features.tokens = keys.token_set_available;
  features.share_updates = keys.dynamic_update;
  return features;
}

void set_fault_warning(driver::ManagedOptions& options, Context& context) {
  if (context.machine != nullptr) {
    const auto& keys = context.machine->driver;
    options.error_threshold = keys.fault_warning_errors;
    options.error_window = keys.fault_warning_window;
  }
  auto& clock = context.platform.clock();
  options.on_fault_errors = [&report = context.report,
                             &clock](const driver::FaultErrorWarning& warning) {
    report.add_note(
        fmt::format("warning at {:.3f} us: {} page faults of VMID {} so far that "
                    "nobody could serve",
                    clock.now().us(), warning.fault_errors, warning.vmid));
  };
}

}  // namespace npu::workloads
