// SPDX-License-Identifier: Apache-2.0
// What workloads on managed memory have in common.
#pragma once

#include "npu/driver/managed.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/programs/programs.hpp"

namespace npu::workloads {

// Who serves the card's faults.
inline ParameterSpec policy_parameter() {
  return {"policy",
          ParameterType::kChoice,
          "",
          "message",
          "who serves the card's faults: its pager, a message each, or the driver, in batches",
          0,
          0,
          {"message", "batch"}};
}

// As the parameter says; `limit`: of the card's memory, 0: what there is.
inline Result<std::unique_ptr<driver::ManagedMemory>> open_managed(Context& context,
                                                                   driver::Device& device,
                                                                   driver::AddressSpace& space,
                                                                   Bytes limit = 0) {
  driver::ManagedOptions options;
  options.card_limit = limit;
  if (context.parameters.choice("policy") == "batch") {
    options.policy = driver::FaultPolicy::kBatch;
  } else {
    const auto pager = use_program(context.report, "pager");
    if (!pager) return forward_error(pager);
    options.pager = *pager;
  }
  return driver::ManagedMemory::open(device, space, options);
}

}  // namespace npu::workloads
