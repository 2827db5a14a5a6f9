// SPDX-License-Identifier: Apache-2.0
// Work that needs no kernel of the program's.
#include <acl/acl.h>
#include <acl/npusim_kernels.h>

#include <algorithm>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/operator_kernels.hpp"
#include "apps/compat/client/pinned.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

namespace {

const char* kernel_of(aclrtReduceKind kind) {
  switch (static_cast<int>(kind)) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
      return "add";
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
      return "max";
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
      return "min";
    default:
      return nullptr;
  }
}

bool are_words(const void* address, size_t size, size_t count) {
  return address != nullptr && count != 0 && count <= size / sizeof(uint32_t);
}

// Host memory the program itself fills.
bool fills_here(void* address, uint32_t value, size_t count) {
  bool on_device = false;
  if (npu::compat::find_pinned(address)) return false;
  if (ask_for<Call::kPlace>(&on_device, {word(address)}) != ACL_SUCCESS || on_device) return false;
  std::fill_n(static_cast<uint32_t*>(address), count, value);
  return true;
}

}  // namespace

extern "C" {

aclError aclrtReduceAsync(void* to, const void* from, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void* reserve) {
  if (to == nullptr || from == nullptr || count == 0 || reserve != nullptr ||
      static_cast<int>(kind) < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM ||
      kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const char* const kernel = kernel_of(kind);
  const bool is_float = type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
  if (kernel == nullptr || !is_float) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (count % aclDataTypeSize(type) != 0) return ACL_ERROR_INVALID_PARAM;
  const npusim_elementwise_args all = {word(to), word(to), word(from),
                                       count / aclDataTypeSize(type), static_cast<uint64_t>(type)};
  npu::compat::OperatorLaunch launch;
  launch.kernel = kernel;
  npu::compat::put(all, &launch);
  return npu::compat::run(launch, stream);
}

aclError aclrtMemsetD32(void* address, size_t size, uint32_t value, size_t count) {
  if (!are_words(address, size, count)) return ACL_ERROR_INVALID_PARAM;
  if (npu::compat::find_pinned(address)) {
    std::fill_n(static_cast<uint32_t*>(address), count, value);
    return ACL_SUCCESS;
  }
  if (fills_here(address, value, count)) return ACL_SUCCESS;
  return ask<Call::kFillWords>({word(address), value, count * sizeof value, {}});
}

aclError aclrtMemsetD32Async(void* address, size_t size, uint32_t value, size_t count,
                             aclrtStream stream) {
  if (!are_words(address, size, count)) return ACL_ERROR_INVALID_PARAM;
  if (npu::compat::find_pinned(address)) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (fills_here(address, value, count)) return ACL_SUCCESS;
  return ask<Call::kFillWords>({word(address), value, count * sizeof value, {1, word(stream)}});
}

}  // extern "C"
