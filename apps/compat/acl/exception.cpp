// SPDX-License-Identifier: Apache-2.0
// The program's function for faults of its streams.
#include <unistd.h>

#include <atomic>

#include "apps/compat/acl/direct.hpp"

struct rtExceptionInfo {
  uint32_t task, stream, thread, device, code;
};

namespace npu::compat {
namespace {

std::atomic<aclrtExceptionInfoCallback>& callback() {
  static std::atomic<aclrtExceptionInfoCallback> call{nullptr};
  return call;
}

}  // namespace

aclError told(aclError status) {
  const auto call = callback().load();
  const bool is_fault = status == ACL_ERROR_RT_AICORE_EXCEPTION ||
                        status == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION ||
                        status == ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR;
  wire::FaultInfo found;
  if (!is_fault || call == nullptr || ask<Call::kLastFault>({}, &found) != ACL_SUCCESS) {
    return status;
  }
  rtExceptionInfo info = {static_cast<uint32_t>(found.task), static_cast<uint32_t>(found.stream),
                          static_cast<uint32_t>(::gettid()), static_cast<uint32_t>(found.device),
                          static_cast<uint32_t>(found.code)};
  call(&info);
  return status;
}

}  // namespace npu::compat

namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;

uint32_t member(const aclrtExceptionInfo* info, uint32_t rtExceptionInfo::*which) {
  return info == nullptr ? kNone : info->*which;
}

}  // namespace

extern "C" {

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback call) {
  npu::compat::callback().store(call);
  return ACL_SUCCESS;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return member(info, &rtExceptionInfo::task);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return member(info, &rtExceptionInfo::stream);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return member(info, &rtExceptionInfo::thread);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return member(info, &rtExceptionInfo::device);
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return member(info, &rtExceptionInfo::code);
}

}  // extern "C"
