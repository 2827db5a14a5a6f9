// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/copies.hpp"

#include <runtime/mem.h>

#include "apps/compat/rt/outcome.hpp"

namespace npu::compat {
namespace {

// 107000, 207000: of no kind, or of one that is not modelled.
rtError_t kind_of(rtMemcpyKind_t kind, CopyKind* found) {
  switch (static_cast<int>(kind)) {
    case RT_MEMCPY_HOST_TO_HOST:
      *found = CopyKind::kHostToHost;
      return RT_ERROR_NONE;
    case RT_MEMCPY_HOST_TO_DEVICE:
      *found = CopyKind::kHostToDevice;
      return RT_ERROR_NONE;
    case RT_MEMCPY_DEVICE_TO_HOST:
    case RT_MEMCPY_DEVICE_TO_HOST_EX:
      *found = CopyKind::kDeviceToHost;
      return RT_ERROR_NONE;
    case RT_MEMCPY_DEVICE_TO_DEVICE:
      *found = CopyKind::kDeviceToDevice;
      return RT_ERROR_NONE;
    case RT_MEMCPY_MANAGED:
    case RT_MEMCPY_DEFAULT:
      *found = CopyKind::kDefault;
      return RT_ERROR_NONE;
    case RT_MEMCPY_HOST_TO_DEVICE_EX:
      *found = CopyKind::kHostBufferToDevice;
      return RT_ERROR_NONE;
    case RT_MEMCPY_ADDR_DEVICE_TO_DEVICE:
      return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    default:
      return ACL_ERROR_RT_PARAM_INVALID;
  }
}

struct Rows {
  std::uint64_t to_pitch, from_pitch, width, height;
};

rtError_t copy_rows(void* to, const void* from, const Rows& rows, rtMemcpyKind_t kind,
                    const CopyOrder& order) {
  CopyKind found{};
  if (to == nullptr || from == nullptr || rows.width == 0 || rows.height == 0 ||
      rows.to_pitch < rows.width || rows.from_pitch < rows.width) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (const auto wrong = kind_of(kind, &found); wrong != RT_ERROR_NONE) return wrong;
  for (std::uint64_t row = 0; row < rows.height; ++row) {
    const int status = copy_bytes(static_cast<std::byte*>(to) + row * rows.to_pitch,
                                  static_cast<const std::byte*>(from) + row * rows.from_pitch,
                                  rows.width, found, order);
    if (status != RT_ERROR_NONE) return rt_error(status);
  }
  return RT_ERROR_NONE;
}

rtError_t copy(void* to, std::uint64_t max, const void* from, std::uint64_t count,
               rtMemcpyKind_t kind, const CopyOrder& order) {
  CopyKind found{};
  if (to == nullptr || from == nullptr || count == 0 || max < count) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  if (const auto wrong = kind_of(kind, &found); wrong != RT_ERROR_NONE) return wrong;
  return rt_error(copy_bytes(to, from, count, found, order));
}

}  // namespace
}  // namespace npu::compat

extern "C" {

rtError_t rtMemcpy(void* to, uint64_t max, const void* from, uint64_t count, rtMemcpyKind_t kind) {
  return npu::compat::copy(to, max, from, count, kind, {});
}

rtError_t rtMemcpyAsync(void* to, uint64_t max, const void* from, uint64_t count,
                        rtMemcpyKind_t kind, rtStream_t stream) {
  return npu::compat::copy(to, max, from, count, kind, {true, stream});
}

rtError_t rtMemcpy2d(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch,
                     uint64_t width, uint64_t height, rtMemcpyKind_t kind) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind, {});
}

rtError_t rtMemcpy2dAsync(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch,
                          uint64_t width, uint64_t height, rtMemcpyKind_t kind, rtStream_t stream) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind,
                                {true, stream});
}

rtError_t rtMemset(void* address, uint64_t max, uint32_t value, uint64_t count) {
  if (address == nullptr || count > max) return ACL_ERROR_RT_PARAM_INVALID;
  return npu::compat::rt_error(
      npu::compat::fill_bytes(address, static_cast<std::uint8_t>(value), count, {}));
}

rtError_t rtMemsetAsync(void* address, uint64_t max, uint32_t value, uint64_t count,
                        rtStream_t stream) {
  if (address == nullptr || count > max) return ACL_ERROR_RT_PARAM_INVALID;
  return npu::compat::rt_error(
      npu::compat::fill_bytes(address, static_cast<std::uint8_t>(value), count, {true, stream}));
}

}  // extern "C"
