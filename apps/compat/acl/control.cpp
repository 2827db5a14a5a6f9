// SPDX-License-Identifier: Apache-2.0
// Models that are built, labels, conditions: what of a model is run next.
#include <acl/acl_rt.h>

#include <cstring>

#include "apps/compat/acl/direct.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::word;

namespace {

constexpr size_t kMostLabels = 65535;

}  // namespace

extern "C" {

aclError aclmdlRIBuildBegin(aclmdlRI* model, uint32_t flag) {
  if (model == nullptr || flag != 0) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kModelBuildBegin>(model);
}

aclError aclmdlRIBindStream(aclmdlRI model, aclrtStream stream, uint32_t flag) {
  const bool head = flag == ACL_MODEL_STREAM_FLAG_HEAD;
  if (model == nullptr || stream == nullptr || (!head && flag != ACL_MODEL_STREAM_FLAG_DEFAULT)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask<Call::kModelBind>({word(model), word(stream), head});
}

aclError aclmdlRIUnbindStream(aclmdlRI model, aclrtStream stream) {
  if (model == nullptr || stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kModelUnbind>({word(model), word(stream)});
}

aclError aclmdlRIEndTask(aclmdlRI model, aclrtStream stream) {
  if (model == nullptr || stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kModelEndTask>({word(model), word(stream)});
}

aclError aclmdlRIBuildEnd(aclmdlRI model, void* reserve) {
  if (model == nullptr || reserve != nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kModelBuildEnd>({word(model)});
}

aclError aclrtActiveStream(aclrtStream active, aclrtStream stream) {
  if (active == nullptr || stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kActiveStream>({word(active), word(stream)});
}

aclError aclrtSwitchStream(void* left, aclrtCondition condition, void* right,
                           aclrtCompareDataType type, aclrtStream on_true, aclrtStream on_false,
                           aclrtStream stream) {
  const auto comparison = static_cast<unsigned>(condition), width = static_cast<unsigned>(type);
  if (left == nullptr || right == nullptr || on_true == nullptr || on_false != nullptr ||
      stream == nullptr || comparison > ACL_RT_LESS_OR_EQUAL || width > ACL_RT_SWITCH_INT64) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask<Call::kSwitchStream>(
      {word(left), word(right), comparison, width, word(on_true), word(stream)});
}

aclError aclrtCreateLabel(aclrtLabel* label) {
  return ask_for<Call::kLabelCreate>(label);
}

aclError aclrtDestroyLabel(aclrtLabel label) {
  if (label == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kLabelDestroy>({word(label)});
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
  if (label == nullptr || stream == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kLabelSet>({word(label), word(stream)});
}

aclError aclrtCreateLabelList(aclrtLabel* labels, size_t count, aclrtLabelList* list) {
  auto* const channel = channel_of_this_thread();
  if (labels == nullptr || list == nullptr || count == 0 || count > kMostLabels) {
    return ACL_ERROR_INVALID_PARAM;
  }
  static_assert(sizeof *labels == sizeof(uint64_t));
  if (channel != nullptr) std::memcpy(channel->window(), labels, count * sizeof *labels);
  return ask_for<Call::kLabelListCreate>(list, {count}, count * sizeof *labels);
}

aclError aclrtDestroyLabelList(aclrtLabelList list) {
  if (list == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kLabelListDestroy>({word(list)});
}

aclError aclrtSwitchLabelByIndex(void* index, uint32_t count, aclrtLabelList list,
                                 aclrtStream stream) {
  if (index == nullptr || count == 0 || list == nullptr || stream == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask<Call::kLabelSwitch>({word(index), count, word(list), word(stream)});
}

aclError aclmdlRICondHandleCreate(aclmdlRI model, uint32_t value, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle* handle) {
  const auto assigns = static_cast<unsigned>(flag);
  if (model == nullptr || handle == nullptr || assigns > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask_for<Call::kConditionCreate>(handle, {word(model), value, assigns});
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** address) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask_for<Call::kConditionPlace>(address, {word(handle)});
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams task, aclrtStream stream, uint32_t flags) {
  if (task.handle == nullptr || task.modelRIArray == nullptr || task.size == 0 || flags != 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  uint64_t made = 0;
  const aclError status = ask_for<Call::kConditionTask>(
      &made, {word(task.handle), static_cast<uint64_t>(task.type), task.size, word(stream)});
  if (status != ACL_SUCCESS) return status;
  static_assert(sizeof *task.modelRIArray == sizeof(uint64_t));
  std::memcpy(task.modelRIArray, channel_of_this_thread()->window(),
              task.size * sizeof *task.modelRIArray);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI model,
                                       aclmdlRICaptureMode mode) {
  const auto number = static_cast<unsigned>(mode);
  if (model == nullptr || number > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return ask<Call::kCaptureBranch>({word(stream), word(model), number});
}

}  // extern "C"
