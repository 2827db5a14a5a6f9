// SPDX-License-Identifier: Apache-2.0
// Errors, options, and what there is to know of contexts, streams and events.
#include <runtime/npusim_rt.h>
#include <runtime/stream.h>

#include <new>
#include <utility>

#include "apps/compat/acl/blocking.hpp"
#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/kept.hpp"

using npu::compat::ask_for;
using npu::compat::ask_word;
using npu::compat::Call;
using npu::compat::Kept;
using npu::compat::word;
namespace wire = npu::compat::wire;

namespace {

// By context, null: of the process; and option.
using Options = Kept<std::pair<aclrtContext, int>, int64_t>;
Options& options() {
  static auto* const kAll = new Options;
  return *kAll;
}

bool is_option(aclSysParamOpt option) {
  return static_cast<int>(option) >= 0 && option <= ACL_OPT_STRONG_CONSISTENCY;
}

aclError get(aclrtContext context, aclSysParamOpt option, int64_t* value) {
  if (value == nullptr || !is_option(option)) return ACL_ERROR_INVALID_PARAM;
  if (options().get({context, option}, value)) return ACL_SUCCESS;
  if (context != nullptr) return ACL_ERROR_RT_SYSPARAMOPT_NOT_SET;
  *value = 0;
  return ACL_SUCCESS;
}

// Of streams, as the program has said.
Kept<aclrtStream, uint32_t>& tags() {
  static auto* const kAll = new Kept<aclrtStream, uint32_t>;
  return *kAll;
}
Kept<aclrtStream, uint32_t>& overflow_switches() {
  static auto* const kAll = new Kept<aclrtStream, uint32_t>;
  return *kAll;
}

aclrtErrorType error_type(int code) {
  switch (code) {
    case ACL_SUCCESS:
      return ACL_RT_NO_ERROR;
    case ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR:
      return ACL_RT_ERROR_MEMORY;
    default:
      return ACL_RT_ERROR_AICORE;
  }
}

}  // namespace

extern "C" {

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? npu::compat::last_error() : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return ACL_ERROR_INVALID_PARAM;
  return std::exchange(npu::compat::last_error(), ACL_SUCCESS);
}

aclError aclrtGetErrorVerbose(int32_t device, aclrtErrorInfo* info) {
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  int code = 0;
  const aclError status = ask_for<Call::kDeviceError>(&code, {npusimRtMachineDevice(device)});
  if (status != ACL_SUCCESS) return status;
  *info = {};
  info->errorType = error_type(code);
  return ACL_SUCCESS;
}

aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value) {
  if (!is_option(option)) return ACL_ERROR_INVALID_PARAM;
  options().set({nullptr, option}, value);
  return ACL_SUCCESS;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  return get(nullptr, option, value);
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value) {
  if (!is_option(option)) return ACL_ERROR_INVALID_PARAM;
  aclrtContext context = nullptr;
  const aclError status = aclrtGetCurrentContext(&context);
  if (status == ACL_SUCCESS) options().set({context, option}, value);
  return status;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t* value) {
  aclrtContext context = nullptr;
  const aclError status = aclrtGetCurrentContext(&context);
  return status == ACL_SUCCESS ? get(context, option, value) : status;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return ask_for<Call::kDefaultStream>(stream);
}

aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t* flags, int32_t* active) {
  if (flags != nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kPrimaryState>(active, {npusimRtMachineDevice(device)});
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return ask_word<Call::kStreamInfo>(priority, {word(stream)}, &wire::StreamInfo::priority);
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return ask_word<Call::kStreamInfo>(flags, {word(stream)}, &wire::StreamInfo::flags);
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* id) {
  return ask_word<Call::kStreamInfo>(id, {word(stream)}, &wire::StreamInfo::number);
}

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void) {
  auto* const handle = new (std::nothrow) aclrtStreamConfigHandle;
  if (handle != nullptr) *handle = {};
  return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete handle;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attribute,
                                 const void* value, size_t size) {
  if (handle == nullptr || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto is = [size](size_t wanted) { return size == wanted; };
  switch (static_cast<int>(attribute)) {
    case ACL_RT_STREAM_WORK_ADDR_PTR:
      if (!is(sizeof handle->workptr)) return ACL_ERROR_INVALID_PARAM;
      handle->workptr = *static_cast<void* const*>(value);
      return ACL_SUCCESS;
    case ACL_RT_STREAM_WORK_SIZE:
      if (!is(sizeof handle->workSize)) return ACL_ERROR_INVALID_PARAM;
      handle->workSize = *static_cast<const size_t*>(value);
      return ACL_SUCCESS;
    case ACL_RT_STREAM_FLAG:  // of 4 bytes for programs, of 8 in the structure
      if (is(sizeof(uint32_t))) {
        handle->flag = *static_cast<const uint32_t*>(value);
      } else if (is(sizeof handle->flag)) {
        handle->flag = *static_cast<const size_t*>(value);
      } else {
        return ACL_ERROR_INVALID_PARAM;
      }
      return ACL_SUCCESS;
    case ACL_RT_STREAM_PRIORITY:
      if (!is(sizeof handle->priority)) return ACL_ERROR_INVALID_PARAM;
      handle->priority = *static_cast<const uint32_t*>(value);
      return ACL_SUCCESS;
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
  if (stream == nullptr || handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return aclrtCreateStreamWithConfig(stream, handle->priority, static_cast<uint32_t>(handle->flag));
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute,
                                 aclrtStreamAttrValue* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t known = 0;
  switch (static_cast<int>(attribute)) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return aclrtSetStreamFailureMode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return aclrtSetStreamOverflowSwitch(stream, value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      if (const auto wrong = aclrtStreamGetId(stream, &known); wrong != ACL_SUCCESS) return wrong;
      tags().set(stream, value->userCustomTag);
      return ACL_SUCCESS;
    case ACL_STREAM_LAUNCH_BLOCKING_MODE:
      return npu::compat::set_launch_mode(stream, value->launchBlockingMode);
    default:
      return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute,
                                 aclrtStreamAttrValue* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t known = 0;
  if (const auto wrong = aclrtStreamGetId(stream, &known); wrong != ACL_SUCCESS) return wrong;
  switch (static_cast<int>(attribute)) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return ask_word<Call::kStreamInfo>(&value->failureMode, {word(stream)},
                                         &wire::StreamInfo::stops);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return aclrtGetStreamOverflowSwitch(stream, &value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value->userCustomTag = 0;
      static_cast<void>(tags().get(stream, &value->userCustomTag));
      return ACL_SUCCESS;
    case ACL_STREAM_ATTR_PRIORITY:
      return aclrtStreamGetPriority(stream, &value->streamPriority);
    case ACL_STREAM_LAUNCH_BLOCKING_MODE:
      return npu::compat::launch_mode(stream, &value->launchBlockingMode);
    default:
      return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  int32_t known = 0;
  if (const auto wrong = aclrtStreamGetId(stream, &known); wrong != ACL_SUCCESS) return wrong;
  overflow_switches().set(stream, flag);
  return ACL_SUCCESS;
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  if (flag == nullptr) return ACL_ERROR_INVALID_PARAM;
  int32_t known = 0;
  if (const auto wrong = aclrtStreamGetId(stream, &known); wrong != ACL_SUCCESS) return wrong;
  *flag = 0;
  static_cast<void>(overflow_switches().get(stream, flag));
  return ACL_SUCCESS;
}

// The answer is in nanoseconds.
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  if (event == nullptr || timestamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t nanoseconds = 0;
  const aclError status = ask_for<Call::kEventTimestamp>(&nanoseconds, {word(event)});
  if (status == ACL_SUCCESS) *timestamp = nanoseconds / 1000;
  return status;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* id) {
  if (event == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_word<Call::kEventInfo>(id, {word(event)}, &wire::EventInfo::number);
}

aclError aclrtGetEventAvailNum(uint32_t* count) {
  return ask_word<Call::kEventInfo>(count, {0}, &wire::EventInfo::left);
}

aclError aclrtGetThreadLastTaskId(uint32_t* id) {
  return ask_for<Call::kLastTask>(id);
}

}  // extern "C"
