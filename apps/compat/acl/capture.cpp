// SPDX-License-Identifier: Apache-2.0
// Captures of streams, and models.
#include <acl/acl_rt.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "apps/compat/acl/blocking.hpp"
#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/helper_thread.hpp"

using npu::compat::Answer;
using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::word;

namespace {

void look_at_runs() {
  while (ask<Call::kModelLook>({}) == ACL_SUCCESS) {
  }
}

// Of models whose tasks say what is run next.
npu::compat::HelperThread& run_thread() {
  static auto* const kHelper = new npu::compat::HelperThread(look_at_runs);
  return *kHelper;
}

constexpr uint32_t kForEverWord = UINT32_MAX;

bool is_mode(aclmdlRICaptureMode mode) {
  const auto number = static_cast<int>(mode);
  return number >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && number <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
}

// Handles that are in the window, of the call before.
aclError take_handles(uint64_t there, void** to, uint32_t* count) {
  const auto room = std::exchange(*count, static_cast<uint32_t>(there));
  if (to == nullptr) return ACL_SUCCESS;
  if (room < there) return ACL_ERROR_RT_PARAM_INVALID;
  static_assert(sizeof(void*) == sizeof(uint64_t));
  std::memcpy(to, channel_of_this_thread()->window(), there * sizeof(uint64_t));
  return ACL_SUCCESS;
}

aclError text_of(aclmdlRI model, std::string* text) {
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  size_t bytes = 0;
  const aclError status = ask_for<Call::kModelText>(&bytes, {word(model)});
  if (status != ACL_SUCCESS) return status;
  const auto* const window = reinterpret_cast<const char*>(channel_of_this_thread()->window());
  text->assign(window, bytes);
  return ACL_SUCCESS;
}

aclError begin_run(aclmdlRI model, aclrtStream stream) {
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  bool controlled = false;
  const aclError status = ask_for<Call::kModelExecute>(&controlled, {word(model), word(stream)});
  return status == ACL_SUCCESS && controlled ? run_thread().begun() : status;
}

}  // namespace

extern "C" {

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  if (!is_mode(mode)) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kCaptureBegin>({word(stream), static_cast<uint64_t>(mode)});
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* model) {
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kCaptureEnd>(model, {word(stream)});
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* model) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  Answer<Call::kCaptureInfo> answer;
  const aclError asked = ask<Call::kCaptureInfo>({word(stream)}, &answer);
  if (asked != ACL_SUCCESS) return asked;
  *status = static_cast<aclmdlRICaptureStatus>(answer.status);
  if (model != nullptr) *model = reinterpret_cast<aclmdlRI>(answer.model);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  if (mode == nullptr || !is_mode(*mode)) return ACL_ERROR_INVALID_PARAM;
  uint64_t before = 0;
  const aclError status = ask_for<Call::kCaptureMode>(&before, {static_cast<uint64_t>(*mode)});
  if (status == ACL_SUCCESS) *mode = static_cast<aclmdlRICaptureMode>(before);
  return status;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return ask<Call::kTaskGroupBegin>({word(stream)});
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* group) {
  if (group == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kTaskGroupEnd>(group, {word(stream)});
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp group) {
  if (group == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kTaskUpdateBegin>({word(stream), word(group)});
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return ask<Call::kTaskUpdateEnd>({word(stream)});
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  if (event == nullptr || flag > ACL_EVENT_RECORD_EXTERNAL) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kRecordEvent>({word(event), word(stream), flag});
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag) {
  if (event == nullptr || flag > ACL_EVENT_WAIT_EXTERNAL) return ACL_ERROR_INVALID_PARAM;
  if (timeout != 0 && timeout != kForEverWord) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return ask<Call::kStreamWaitEvent>({word(stream), word(event), flag});
}

aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream stream) {
  return npu::compat::launched(begin_run(model, stream), stream);
}

aclError aclmdlRIExecute(aclmdlRI model, int32_t timeout) {
  if (timeout == 0 || timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const aclError status = begin_run(model, nullptr);
  return status == ACL_SUCCESS ? aclrtSynchronizeStreamWithTimeout(nullptr, timeout) : status;
}

aclError aclmdlRIDestroy(aclmdlRI model) {
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kModelDestroy>({word(model)});
}

aclError aclmdlRIGetStreams(aclmdlRI model, aclrtStream* streams, uint32_t* count) {
  if (model == nullptr || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t there = 0;
  const aclError status = ask_for<Call::kModelStreams>(&there, {word(model)});
  return status == ACL_SUCCESS ? take_handles(there, streams, count) : status;
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* count) {
  if (stream == nullptr || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  uint64_t there = 0;
  const aclError status = ask_for<Call::kModelTasks>(&there, {word(stream)});
  return status == ACL_SUCCESS ? take_handles(there, tasks, count) : status;
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
  if (task == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::ask_word<Call::kModelTask>(type, {word(task)},
                                                 &Answer<Call::kModelTask>::type);
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* number) {
  if (task == nullptr) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::ask_word<Call::kModelTask>(number, {word(task)},
                                                 &Answer<Call::kModelTask>::number);
}

aclError aclmdlRIDebugPrint(aclmdlRI model) {
  std::string text;
  const aclError status = text_of(model, &text);
  if (status == ACL_SUCCESS) std::fputs(text.c_str(), stderr);
  return status;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI model, const char* path, uint32_t flags) {
  if (path == nullptr || flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) return ACL_ERROR_INVALID_PARAM;
  std::string text;
  const aclError status = text_of(model, &text);
  if (status != ACL_SUCCESS) return status;
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return ACL_ERROR_INVALID_PARAM;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

}  // extern "C"
