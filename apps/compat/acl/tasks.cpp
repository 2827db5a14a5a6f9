// SPDX-License-Identifier: Apache-2.0
// Work that needs no kernel of the program's.
#include <acl/acl.h>

#include <algorithm>
#include <iterator>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/client/pinned.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

namespace {

// As engines know it (abi/element.hpp); 0: they do not.
uint64_t operation_of(aclrtReduceKind kind) {
  const int number = static_cast<int>(kind);
  return number <= ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN
             ? static_cast<uint64_t>(number - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM + 1)
             : 0;
}

// The same; more than there are: they do not.
uint64_t element_of(aclDataType type) {
  constexpr aclDataType kElements[] = {ACL_INT8,    ACL_INT16, ACL_INT32,
                                       ACL_FLOAT16, ACL_BF16,  ACL_FLOAT};
  return static_cast<uint64_t>(std::find(std::begin(kElements), std::end(kElements), type) -
                               std::begin(kElements));
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
  const uint64_t operation = operation_of(kind), element = element_of(type);
  if (operation == 0 || element > 5) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (count % aclDataTypeSize(type) != 0) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kReduce>({word(from), word(to), count, operation, element, {1, word(stream)}});
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
