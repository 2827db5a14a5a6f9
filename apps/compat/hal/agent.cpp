// SPDX-License-Identifier: Apache-2.0
// Agents: who keeps a device open for the HAL's memory.
#include "apps/compat/hal/outcome.hpp"

using npu::compat::Call;
using npu::compat::hal_ask;

extern "C" {

drvError_t halMemAgentOpen(uint32_t device, uint32_t flag) {
  if (flag > SVM_AGENT_HOST) return DRV_ERROR_NOT_SUPPORT;
  return hal_ask<Call::kAgent>({device, 1});
}

drvError_t halMemAgentClose(uint32_t device, uint32_t flag) {
  if (flag > SVM_AGENT_HOST) return DRV_ERROR_NOT_SUPPORT;
  return hal_ask<Call::kAgent>({device, 0});
}

}  // extern "C"
