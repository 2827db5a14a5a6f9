// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <runtime/mem.h>

namespace {

bool is_kind(aclrtMemcpyKind kind) {
  const auto number = static_cast<int>(kind);
  return number >= ACL_MEMCPY_HOST_TO_HOST && number <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
}

// Of one that there is: the runtime has other numbers.
rtMemcpyKind_t runtime_kind(aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return RT_MEMCPY_HOST_TO_HOST;
    case ACL_MEMCPY_HOST_TO_DEVICE:
      return RT_MEMCPY_HOST_TO_DEVICE;
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return RT_MEMCPY_DEVICE_TO_HOST;
    case ACL_MEMCPY_DEFAULT:
      return RT_MEMCPY_DEFAULT;
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return RT_MEMCPY_HOST_TO_DEVICE_EX;
    default:
      return RT_MEMCPY_DEVICE_TO_DEVICE;
  }
}

bool is_valid(const void* to, size_t max, const void* from, size_t count, aclrtMemcpyKind kind) {
  return to != nullptr && from != nullptr && max >= count && is_kind(kind);
}

struct Rows {
  const void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch, width, height;
};

bool is_valid(const Rows& rows, aclrtMemcpyKind kind) {
  return rows.to != nullptr && rows.from != nullptr && is_kind(kind) && rows.width != 0 &&
         rows.height != 0 && rows.to_pitch >= rows.width && rows.from_pitch >= rows.width;
}

}  // namespace

extern "C" {

aclError aclrtMemcpy(void* to, size_t max, const void* from, size_t count, aclrtMemcpyKind kind) {
  if (count == 0) return ACL_SUCCESS;
  if (!is_valid(to, max, from, count, kind)) return ACL_ERROR_INVALID_PARAM;
  return rtMemcpy(to, max, from, count, runtime_kind(kind));
}

aclError aclrtMemcpyAsync(void* to, size_t max, const void* from, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  if (count == 0) return ACL_SUCCESS;
  if (!is_valid(to, max, from, count, kind)) return ACL_ERROR_INVALID_PARAM;
  return rtMemcpyAsync(to, max, from, count, runtime_kind(kind), stream);
}

aclError aclrtMemcpy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  if (!is_valid({to, to_pitch, from, from_pitch, width, height}, kind)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtMemcpy2d(to, to_pitch, from, from_pitch, width, height, runtime_kind(kind));
}

aclError aclrtMemcpy2dAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                            size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  if (!is_valid({to, to_pitch, from, from_pitch, width, height}, kind)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return rtMemcpy2dAsync(to, to_pitch, from, from_pitch, width, height, runtime_kind(kind), stream);
}

}  // extern "C"
