// SPDX-License-Identifier: Apache-2.0
// Limits of cores, and of the time and the stacks of kernels.
#include <acl/acl_rt.h>
#include <runtime/dev.h>

#include <atomic>
#include <cstddef>

#include "apps/compat/client/request.hpp"

namespace {

// Less than what the model gives the thread of a core, which has frames of its own.
constexpr std::size_t kKernelStack = 192 << 10;
std::atomic<std::size_t> wanted_stack = kKernelStack;

bool is_type(aclrtDevResLimitType type) {
  return type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE;
}

rtDevResLimitType_t runtime_type(aclrtDevResLimitType type) {
  return static_cast<rtDevResLimitType_t>(type);
}

}  // namespace

extern "C" {

aclError aclrtSetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t value) {
  if (!is_type(type)) return ACL_ERROR_INVALID_PARAM;
  return rtSetDeviceResLimit(static_cast<uint32_t>(device), runtime_type(type), value);
}

aclError aclrtGetDeviceResLimit(int32_t device, aclrtDevResLimitType type, uint32_t* value) {
  if (!is_type(type) || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtGetDeviceResLimit(static_cast<uint32_t>(device), runtime_type(type), value);
}

aclError aclrtResetDeviceResLimit(int32_t device) {
  return rtResetDeviceResLimit(static_cast<uint32_t>(device));
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  if (!is_type(type)) return ACL_ERROR_INVALID_PARAM;
  return rtSetStreamResLimit(stream, runtime_type(type), value);
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  if (!is_type(type) || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtGetStreamResLimit(stream, runtime_type(type), value);
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return rtResetStreamResLimit(stream);
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return rtUseStreamResInCurrentThread(stream);
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return rtNotUseStreamResInCurrentThread(stream);
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  if (!is_type(type) || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  return rtGetResInCurrentThread(runtime_type(type), value);
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t microseconds, uint64_t* actual) {
  if (actual == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::ask_for<npu::compat::Call::kSetKernelTimeout>(actual, {microseconds});
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t milliseconds) {
  uint64_t actual = 0;
  return aclrtSetOpExecuteTimeOutV2(uint64_t{milliseconds} * 1000, &actual);
}

aclError aclrtSetOpExecuteTimeOut(uint32_t seconds) {
  uint64_t actual = 0;
  return aclrtSetOpExecuteTimeOutV2(uint64_t{seconds} * 1'000'000, &actual);
}

aclError aclrtGetOpTimeOutInterval(uint64_t* microseconds) {
  if (microseconds == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::wire::KernelTimeout found;
  const aclError status = npu::compat::ask<npu::compat::Call::kGetKernelTimeout>({}, &found);
  if (status == ACL_SUCCESS) *microseconds = found.unit;
  return status;
}

aclError aclrtGetOpExecuteTimeout(uint32_t* milliseconds) {
  if (milliseconds == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::wire::KernelTimeout found;
  const aclError status = npu::compat::ask<npu::compat::Call::kGetKernelTimeout>({}, &found);
  if (status == ACL_SUCCESS) *milliseconds = static_cast<uint32_t>(found.limit / 1000);
  return status;
}

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
  if (limit != ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (value == 0 || value > kKernelStack) return ACL_ERROR_RT_PARAM_INVALID;
  wanted_stack = value;
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (limit != ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  *value = wanted_stack;
  return ACL_SUCCESS;
}

}  // extern "C"
