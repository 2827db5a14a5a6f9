// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>

#include "compat/client/copies.hpp"

namespace npu::compat {
namespace {

bool is_kind(aclrtMemcpyKind kind) {
  const auto number = static_cast<int>(kind);
  return number >= ACL_MEMCPY_HOST_TO_HOST && number <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
}

int checked(void* to, std::size_t max, const void* from, std::size_t count, aclrtMemcpyKind kind,
            const CopyOrder& order) {
  if (count == 0) return ACL_SUCCESS;
  if (to == nullptr || from == nullptr || max < count || !is_kind(kind)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return copy_bytes(to, from, count, static_cast<CopyKind>(kind), order);
}

struct Rows {
  std::size_t to_pitch, from_pitch, width, height;
};

int copy_rows(void* to, const void* from, const Rows& rows, aclrtMemcpyKind kind,
              const CopyOrder& order) {
  if (to == nullptr || from == nullptr || !is_kind(kind) || rows.width == 0 || rows.height == 0 ||
      rows.to_pitch < rows.width || rows.from_pitch < rows.width) {
    return ACL_ERROR_INVALID_PARAM;
  }
  for (std::size_t row = 0; row < rows.height; ++row) {
    const int status = copy_bytes(static_cast<std::byte*>(to) + row * rows.to_pitch,
                                  static_cast<const std::byte*>(from) + row * rows.from_pitch,
                                  rows.width, static_cast<CopyKind>(kind), order);
    if (status != ACL_SUCCESS) return status;
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace npu::compat

extern "C" {

aclError aclrtMemcpy(void* to, size_t max, const void* from, size_t count, aclrtMemcpyKind kind) {
  return npu::compat::checked(to, max, from, count, kind, {});
}

aclError aclrtMemcpyAsync(void* to, size_t max, const void* from, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return npu::compat::checked(to, max, from, count, kind, {true, stream});
}

aclError aclrtMemcpy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind, {});
}

aclError aclrtMemcpy2dAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                            size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind,
                                {true, stream});
}

}  // extern "C"
