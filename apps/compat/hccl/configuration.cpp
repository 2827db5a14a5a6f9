// SPDX-License-Identifier: Apache-2.0
// What the library keeps by itself, texts of errors, and what is not modelled.
#include <hccl/hccl_comm.h>

#include <atomic>
#include <cstring>

#include "apps/compat/hccl/config.hpp"

namespace {

std::atomic<std::int32_t>& deterministic() {
  static std::atomic<std::int32_t> level{HCCL_COMM_DEFAULT_DETERMINISTIC};
  return level;
}

constexpr const char* kErrors[] = {"success",
                                   "a parameter is wrong",
                                   "a pointer is null",
                                   "memory cannot be used",
                                   "internal error",
                                   "not supported",
                                   "not found",
                                   "a resource is not available",
                                   "a call of the system failed",
                                   "time-out",
                                   "a file cannot be opened",
                                   "no TCP connection",
                                   "no RoCE connection",
                                   "a TCP transfer failed",
                                   "a RoCE transfer failed",
                                   "a call of the runtime failed",
                                   "a call of the driver failed",
                                   "a call of the profiler failed",
                                   "a call of the compute engine failed",
                                   "a call of the network failed",
                                   "try again",
                                   "another rank failed",
                                   "the communicator is suspended",
                                   "the operation cannot be tried again",
                                   "out of memory"};

}  // namespace

extern "C" {

const char* HcclGetErrorString(HcclResult code) {
  const auto number = static_cast<unsigned>(code);
  if (number == HCCL_E_IN_STATUS) return "the status says what failed";
  return number < sizeof kErrors / sizeof *kErrors ? kErrors[number] : "unknown error";
}

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue config_value) {
  constexpr std::int32_t kMostStrict = 2;
  if (config != HCCL_DETERMINISTIC) return HCCL_E_PARA;
  if (config_value.value < 0 || config_value.value > kMostStrict) return HCCL_E_PARA;
  deterministic() = config_value.value;
  return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* config_value) {
  if (config_value == nullptr) return HCCL_E_PTR;
  if (config != HCCL_DETERMINISTIC) return HCCL_E_PARA;
  config_value->value = deterministic();
  return HCCL_SUCCESS;
}

void HcclCommConfigInit(HcclCommConfig* config) {
  if (config == nullptr) return;
  *config = {};
  const npu::compat::hccl::ConfigHead head;
  std::memcpy(config->reserved, &head, sizeof head);
  config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
  config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
  config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
  config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
  config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
  config->hcclExecTimeOut = HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET;
  config->hcclQos = HCCL_COMM_QOS_CONFIG_NOT_SET;
  config->hcclSymWinMaxMemSizePerRank = HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
}

uint32_t HcclGetCommConfigCapability(void) {
  return HCCL_COMM_CONFIG_RESERVED;
}

HcclResult HcclCommSetMemoryRange(HcclComm /*comm*/, void* /*base_vir_ptr*/, size_t /*size*/,
                                  size_t /*alignment*/, uint64_t /*flags*/) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclCommUnsetMemoryRange(HcclComm /*comm*/, void* /*base_vir_ptr*/) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclCommActivateCommMemory(HcclComm /*comm*/, void* /*vir_ptr*/, size_t /*size*/,
                                      size_t /*offset*/, aclrtDrvMemHandle /*handle*/,
                                      uint64_t /*flags*/) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclCommDeactivateCommMemory(HcclComm /*comm*/, void* /*vir_ptr*/) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclCommWorkingDevNicSet(HcclComm /*comm*/, uint32_t* /*ranks*/, bool* /*use_backup*/,
                                    uint32_t /*n_ranks*/) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclGroupStart(void) {
  return HCCL_E_NOT_SUPPORT;
}

HcclResult HcclGroupEnd(void) {
  return HCCL_E_NOT_SUPPORT;
}

}  // extern "C"
