// SPDX-License-Identifier: Apache-2.0
// A card whose physical function's driver divides it, and other workloads run on its parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npu/driver/virtual_functions.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

class DividedCard {
 public:
  // The card of the parameter "card", with `functions` virtual ones; 0: all there can be.
  static Result<std::unique_ptr<DividedCard>> open(Context& context, std::uint32_t functions = 0);

  driver::VirtualFunctions& functions() { return *functions_; }
  driver::Device& physical() { return *device_; }
  // No virtual devices and no virtual functions, as before.
  Status close();

 private:
  std::unique_ptr<driver::Device> device_;
  std::unique_ptr<driver::VirtualFunctions> functions_;
};

// Runs a workload on a function of the card, with these parameters; its report is `report`'s.
Status run_on(Context& context, platform::Bdf function, const std::string& workload,
              const std::vector<std::string>& assignments, Report& report);

// matmul on a virtual device, small enough for any, on all its cores.
Status multiply_on(Context& context, const driver::VirtualDevice& device, Report& report);

}  // namespace npu::workloads
