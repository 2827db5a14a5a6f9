// SPDX-License-Identifier: Apache-2.0
// Whether a system can have a fault; the faults that its configuration asks for.
#pragma once

#include <vector>

#include "model/config/system_config.hpp"
#include "npu/base/result.hpp"
#include "npu/testing/fault.hpp"
#include "workloads/framework/fault_text.hpp"

namespace npu::workloads {

// kInvalidArgument: the system has no such card, function, vector, link, memory, engine or core; or
// the card's link cannot train to that.
Status check_fault(const model::SystemConfig& system, const testkit::Fault& fault);

// SystemConfig::faults. kInvalidArgument: one of them is not of the form that parse_fault() reads,
// or the system cannot have it.
Result<std::vector<PlannedFault>> configured_faults(const model::SystemConfig& system);

}  // namespace npu::workloads
