// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits, versions, attributes: what the library answers by itself.
#include <acl/acl_rt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

namespace {

constexpr char kVersion[] = "8.5.0";  // as aclrtGetVersion() says
constexpr int32_t kVersionNumber = 80500000;
constexpr std::array<std::string_view, 8> kPackages = {
    "cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver"};

bool is_package(const char* name) {
  return std::find(kPackages.begin(), kPackages.end(), name) != kPackages.end();
}

constexpr aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                       ACL_CANN_ATTR_JIT_COMPILE};

// "Ascend910B2" is of the series "Ascend910B", "Ascend910" of its own.
std::string_view series_of(std::string_view soc) {
  const auto last = soc.find_last_not_of("0123456789");
  const bool has_letter = last != std::string_view::npos && last > 0 && soc[last] >= 'A' &&
                          soc[last] <= 'Z' && soc[last - 1] >= '0' && soc[last - 1] <= '9';
  return has_letter ? soc.substr(0, last + 1) : soc;
}

constexpr float kLargestHalf = 65504;

}  // namespace

extern "C" {

aclFloat16 aclFloatToFloat16(float value) {
  const bool negative = std::signbit(value);
  const float size = std::isnan(value) ? kLargestHalf : std::min(std::fabs(value), kLargestHalf);
  const unsigned sign = negative ? 0x8000U : 0;
  // In steps of the last place: 2^-24 below the first normal number, which is 2^-14.
  int exponent = -24;
  if (size > 0) std::frexp(size, &exponent);
  const int last_place = std::max(exponent - 11, -24);
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -last_place)));
  // A significand of 2^11 carries into the exponent, which is right.
  const unsigned biased = static_cast<unsigned>(last_place + 24) << 10;
  return static_cast<aclFloat16>(sign | (biased + steps));
}

float aclFloat16ToFloat(aclFloat16 value) {
  const unsigned exponent = value >> 10 & 0x1F;
  const unsigned fraction = value & 0x3FF;
  float size = 0;
  if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 0x1F) {
    size = fraction == 0 ? 65536.0F : 98304.0F;
  } else {
    size = std::ldexp(static_cast<float>(fraction | 0x400), static_cast<int>(exponent) - 25);
  }
  return (value & 0x8000) != 0 ? -size : size;
}

aclError aclsysGetVersionStr(char* package, char* version) {
  if (package == nullptr || version == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_package(package)) return ACL_ERROR_INVALID_FILE;
  std::memcpy(version, kVersion, sizeof kVersion);
  return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char* package, int32_t* version) {
  if (package == nullptr || version == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!is_package(package)) return ACL_ERROR_INVALID_FILE;
  *version = kVersionNumber;
  return ACL_SUCCESS;
}

aclError aclGetCannAttributeList(const aclCannAttr** attributes, size_t* count) {
  if (attributes == nullptr || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  *attributes = kAttributes;
  *count = std::size(kAttributes);
  return ACL_SUCCESS;
}

// Arithmetic has infinities and bfloat16 on every chip that is modelled; nothing is compiled.
aclError aclGetCannAttribute(aclCannAttr attribute, int32_t* value) {
  const bool known =
      std::find(std::begin(kAttributes), std::end(kAttributes), attribute) != std::end(kAttributes);
  if (value == nullptr || !known) return ACL_ERROR_INVALID_PARAM;
  *value = attribute == ACL_CANN_ATTR_JIT_COMPILE ? 0 : 1;
  return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t device, aclDeviceInfo info, int64_t* value) {
  switch (static_cast<int>(info)) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      return aclrtGetDeviceInfo(device, ACL_DEV_ATTR_AICORE_CORE_NUM, value);
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      return aclrtGetDeviceInfo(device, ACL_DEV_ATTR_VECTOR_CORE_NUM, value);
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

aclError aclrtGetDeviceCapability(int32_t device, aclrtDevFeatureType feature, int32_t* value) {
  if (value == nullptr || (feature != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
                           feature != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  int64_t cores = 0;
  const aclError status =
      aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_AICORE_CORE_NUM, &cores);
  if (status == ACL_SUCCESS) *value = ACL_DEV_FEATURE_NOT_SUPPORT;
  return status;
}

aclError aclrtCheckArchCompatibility(const char* soc_name, int32_t* can) {
  if (soc_name == nullptr || can == nullptr) return ACL_ERROR_INVALID_PARAM;
  const char* const own = aclrtGetSocName();
  if (own == nullptr) return ACL_ERROR_RT_CONTEXT_NULL;
  *can = series_of(own) == series_of(soc_name) ? 1 : 0;
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* least, int32_t* greatest) {
  if (least == nullptr || greatest == nullptr) return ACL_ERROR_INVALID_PARAM;
  *least = 7;
  *greatest = 0;
  return ACL_SUCCESS;
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return ACL_SUCCESS;
  if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return ACL_ERROR_INVALID_PARAM;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  if (mode == nullptr) return ACL_ERROR_INVALID_PARAM;
  *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
  return ACL_SUCCESS;
}

}  // extern "C"
