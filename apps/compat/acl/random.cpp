// SPDX-License-Identifier: Apache-2.0
// Random numbers, by a kernel that npusim brings along.
#include <acl/npusim_kernels.h>

#include <cstring>

#include "apps/compat/acl/operator_kernels.hpp"

namespace {

constexpr uint64_t kMostNumbers = uint64_t{1} << 44;

uint64_t word_in(const aclrtRandomParaInfo& from) {
  uint64_t word = 0;
  std::memcpy(&word, from.valueOrAddr, sizeof word);
  return word;
}

float float_in(const aclrtRandomParaInfo& from, aclDataType type) {
  const auto word = static_cast<uint32_t>(word_in(from));
  if (type == ACL_FLOAT16) return aclFloat16ToFloat(static_cast<aclFloat16>(word));
  const uint32_t bits = type == ACL_BF16 ? word << 16U : word;
  float number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

uint64_t bits_of(float number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

bool is_floating(aclDataType type) {
  return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
}

// Of a uniform distribution of integers: as 64 bits. False: min is not below max.
bool put_range(const aclrtUniformDisInfo& from, aclDataType type, npusim_random_args* to) {
  const auto low = word_in(from.min), high = word_in(from.max);
  switch (type) {
    case ACL_INT32: {
      const auto a = static_cast<int32_t>(low), b = static_cast<int32_t>(high);
      to->a = static_cast<uint64_t>(int64_t{a});
      to->b = static_cast<uint64_t>(int64_t{b});
      return a < b;
    }
    case ACL_UINT32:
      to->a = low & UINT32_MAX;
      to->b = high & UINT32_MAX;
      return to->a < to->b;
    case ACL_INT64:
      to->a = low;
      to->b = high;
      return static_cast<int64_t>(low) < static_cast<int64_t>(high);
    default:
      to->a = low;
      to->b = high;
      return low < high;
  }
}

// What the kernel is told of the distribution. False: there is none such.
bool put_distribution(const aclrtRandomNumTaskInfo& task, npusim_random_args* to) {
  const auto& all = task.randomNumFuncParaInfo;
  const auto type = task.dataType;
  switch (all.funcType) {
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK: {
      const float ratio = float_in(all.paramInfo.dropoutBitmaskInfo.dropoutRation, type);
      to->a = bits_of(1 - ratio);
      return ratio >= 0 && ratio <= 1;
    }
    case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS: {
      if (!is_floating(type)) return put_range(all.paramInfo.uniformDisInfo, type, to);
      const float low = float_in(all.paramInfo.uniformDisInfo.min, type);
      const float high = float_in(all.paramInfo.uniformDisInfo.max, type);
      to->a = bits_of(low);
      to->b = bits_of(high);
      return low <= high;
    }
    default: {
      const float deviation = float_in(all.paramInfo.normalDisInfo.stddev, type);
      to->a = bits_of(float_in(all.paramInfo.normalDisInfo.mean, type));
      to->b = bits_of(deviation);
      return deviation >= 0;
    }
  }
}

bool has_addresses(const aclrtRandomNumTaskInfo& task) {
  const auto& all = task.randomNumFuncParaInfo.paramInfo.uniformDisInfo;  // lies over the others
  const bool one =
      task.randomNumFuncParaInfo.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK;
  return task.randomParaAddr != nullptr || task.randomSeed.isAddr != 0 ||
         task.randomNum.isAddr != 0 || all.min.isAddr != 0 || (!one && all.max.isAddr != 0);
}

bool is_known(aclDataType type, aclrtRandomNumFuncType function) {
  if (function == ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK || is_floating(type)) {
    return is_floating(type);
  }
  return function == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS &&
         (type == ACL_INT32 || type == ACL_UINT32 || type == ACL_INT64 || type == ACL_UINT64);
}

}  // namespace

extern "C" aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* task,
                                        const aclrtStream stream, void* reserve) {
  if (task == nullptr || reserve != nullptr || task->randomResultAddr == nullptr ||
      task->randomCounterAddr == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto function = static_cast<unsigned>(task->randomNumFuncParaInfo.funcType);
  if (function > ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS) return ACL_ERROR_INVALID_PARAM;
  if (has_addresses(*task) || !is_known(task->dataType, task->randomNumFuncParaInfo.funcType)) {
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
  npusim_random_args all = {};
  all.to = reinterpret_cast<uintptr_t>(task->randomResultAddr);
  all.counter = reinterpret_cast<uintptr_t>(task->randomCounterAddr);
  all.seed = word_in(task->randomSeed);
  all.count = word_in(task->randomNum);
  all.distribution = function;
  all.type = static_cast<uint32_t>(task->dataType);
  if (all.count == 0 || all.count > kMostNumbers || !put_distribution(*task, &all)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  npu::compat::OperatorLaunch launch;
  launch.kernel = "random";
  put(all, &launch);
  return run(launch, stream);
}
