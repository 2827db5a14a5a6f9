// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hal/computing.hpp"

#include <cmath>
#include <cstring>

#include "apps/compat/hal/outcome.hpp"
#include "apps/compat/protocol/management.hpp"

namespace npu::compat {
namespace {

constexpr float kWhole = 65535;

// As DSMI has it.
struct Token {
  float value;
  std::uint8_t type, reserved;
  std::uint16_t more;
};
static_assert(sizeof(Token) == sizeof(std::int64_t));

drvError_t management_error(int status) {
  switch (status) {
    case kManagementInvalid:
      return DRV_ERROR_INVALID_VALUE;
    case kManagementNotFound:
      return DRV_ERROR_INVALID_DEVICE;
    case kManagementUnsupported:
      return DRV_ERROR_NOT_SUPPORT;
    default:
      return hal_error(status);
  }
}

drvError_t set_computing(std::uint32_t device, std::int32_t module, std::int32_t info,
                         std::int64_t value) {
  if (module != MODULE_TYPE_COMPUTING || info != INFO_TYPE_COMPUTING_TOKEN) {
    return DRV_ERROR_NOT_SUPPORT;
  }
  Token token{};
  std::memcpy(&token, &value, sizeof token);
  const bool in_range = token.value >= 0 && token.value <= kWhole;
  if (!in_range || token.type > 2) return DRV_ERROR_INVALID_VALUE;
  const auto whole = static_cast<std::uint64_t>(std::lround(token.value));
  return management_error(ask<Call::kManageToken>({device, 1, whole}));
}

}  // namespace

drvError_t get_computing(std::uint32_t device, std::int32_t info, std::int64_t* value) {
  if (info != INFO_TYPE_COMPUTING_TOKEN) return DRV_ERROR_NOT_SUPPORT;
  float value_now = 0;
  const int status = ask_for<Call::kManageToken>(&value_now, {device, 0});
  if (status != 0) return management_error(status);
  const Token token{value_now, 1, 0, 0};
  std::memcpy(value, &token, sizeof token);
  return DRV_ERROR_NONE;
}

}  // namespace npu::compat

extern "C" {

drvError_t halGetDeviceInfoByBuff(uint32_t device, int32_t module, int32_t info, void* buf,
                                  int32_t* size) {
  int64_t value = 0;
  if (buf == nullptr || size == nullptr || *size < static_cast<int32_t>(sizeof value)) {
    return DRV_ERROR_INVALID_VALUE;
  }
  const auto failed = halGetDeviceInfo(device, module, info, &value);
  if (failed != DRV_ERROR_NONE) return failed;
  std::memcpy(buf, &value, sizeof value);
  *size = sizeof value;
  return DRV_ERROR_NONE;
}

drvError_t halSetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t value) {
  return npu::compat::set_computing(device, module, info, value);
}

drvError_t halSetDeviceInfoByBuff(uint32_t device, int32_t module, int32_t info, void* buf,
                                  int32_t size) {
  int64_t value = 0;
  if (buf == nullptr || size != static_cast<int32_t>(sizeof value)) return DRV_ERROR_INVALID_VALUE;
  std::memcpy(&value, buf, sizeof value);
  return npu::compat::set_computing(device, module, info, value);
}

}  // extern "C"
