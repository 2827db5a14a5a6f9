// SPDX-License-Identifier: Apache-2.0
// What workloads on managed memory have in common.
#pragma once

#include "npu/driver/managed.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/driver_settings.hpp"

namespace npu::workloads {

// Who serves the card's faults.
inline ParameterSpec fault_policy_parameter() {
  return choice_parameter(
      "policy", "card",
      "who serves the card's faults: its pager, a message each, the driver, in batches, nobody "
      "(ats: the host's pages are used in place), or whom the card's mmu.fault_policy names",
      {"card", "message", "batch", "ats"});
}

// Of batches.
inline ParameterSpec density_parameter() {
  return {"density",
          ParameterType::kInteger,
          "%",
          "51",
          "batch: of a part of a page, beyond which all of it is fetched; 0: what is touched alone",
          0,
          100};
}

// As the parameters say; `limit`: of the card's memory, 0: what there is.
inline Result<std::unique_ptr<driver::ManagedMemory>> open_managed(Context& context,
                                                                   driver::Device& device,
                                                                   driver::AddressSpace& space,
                                                                   Bytes limit = 0) {
  driver::ManagedOptions options;
  options.card_limit = limit;
  options.density_percent = static_cast<unsigned>(context.parameters.integer("density"));
  set_fault_warning(options, context);
  const auto policy = context.parameters.choice("policy");
  if (policy == "batch") options.policy = driver::FaultPolicy::kBatch;
  if (policy == "message") options.policy = driver::FaultPolicy::kMessage;
  if (policy == "ats") options.policy = driver::FaultPolicy::kAts;
  const auto served = driver::ManagedMemory::policy_of(device, options);
  if (!served) return forward_error(served);
  if (*served == driver::FaultPolicy::kMessage) {
    const auto pager = use_program(context.report, "pager");
    if (!pager) return forward_error(pager);
    options.pager = *pager;
  }
  return driver::ManagedMemory::open(device, space, options);
}

}  // namespace npu::workloads
