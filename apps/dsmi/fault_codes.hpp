// SPDX-License-Identifier: Apache-2.0
// Codes of errors and events, and what they are called.
#pragma once

#include <string>

#include "dsmi/dsmi_common_interface.h"
#include "npu/abi/fault.hpp"
#include "npu/abi/telemetry.hpp"

namespace npu::dsmi {

inline unsigned code_of_event(const abi::LoggedEvent& event) {
  switch (event.kind) {
    case abi::EventKind::kMemorySingle:
      return DSMI_CODE_HBM_SINGLE_BIT;
    case abi::EventKind::kMemoryDouble:
      return DSMI_CODE_HBM_MULTI_BIT;
    case abi::EventKind::kReset:
      return DSMI_CODE_RESET;
    case abi::EventKind::kTemperature:
      return DSMI_CODE_TEMPERATURE;
    default:
      return DSMI_CODE_FAULT | static_cast<unsigned>(event.detail & 0xFFFF);
  }
}

// Empty: no such code.
inline std::string text_of_code(unsigned code) {
  switch (code) {
    case DSMI_CODE_HBM_SINGLE_BIT:
      return "HBM single bit ECC error, corrected";
    case DSMI_CODE_HBM_MULTI_BIT:
      return "HBM multi bit ECC error";
    case DSMI_CODE_RESET:
      return "function reset";
    case DSMI_CODE_TEMPERATURE:
      return "clock of the AI Cores lowered: temperature";
    default:
      break;
  }
  if ((code & 0xFFFF0000U) != DSMI_CODE_FAULT) return {};
  for (const auto& fault : abi::kFaultNames) {
    const bool is_it = static_cast<unsigned>(fault.code) == (code & 0xFFFF);
    if (is_it && fault.code != abi::FaultCode::kNone) return "fault: " + std::string(fault.name);
  }
  return {};
}

}  // namespace npu::dsmi
