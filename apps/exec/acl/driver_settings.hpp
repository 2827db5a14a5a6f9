// SPDX-License-Identifier: Apache-2.0
// What the machine's driver gives programs, and when it warns of page faults that nobody could
// serve.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/compat/protocol/calls.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/managed.hpp"

namespace npu::exec::acl {

struct DriverSettings {
  driver::DeviceFeatures features;
  std::uint64_t fault_warning_errors = 100;  // ManagedOptions::error_threshold
  Picoseconds fault_warning_window = 2'000_ms;
  // Called by a task of the driver's; of the card with that index.
  std::function<void(std::uint32_t card, const driver::FaultErrorWarning&)> on_fault_errors;

  // A line for who reads along; null: nobody does.
  std::function<void(const std::string&)> tell = {};

  // For the driver itself: what programs may not call, calls of others are made of.
  driver::DeviceOptions device_options() const {
    driver::DeviceOptions options;
    options.features = features;
    options.features.reservations = options.features.core_limits = true;
    return options;
  }
};

// What is switched off that the call is about; null: nothing.
const char* switched_off(compat::Call call, const driver::DeviceFeatures& features);

}  // namespace npu::exec::acl
