// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/kernel_arguments.hpp"

#include <acl/acl_rt.h>

#include <cstring>
#include <new>

using npu::compat::KernelArguments;

namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kLargest = std::size_t{1} << 20;

// Room for `size` bytes, aligned; where it is.
std::size_t extend(std::vector<std::byte>& bytes, std::size_t size) {
  const std::size_t at = (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  bytes.resize(at + size);
  return at;
}

}  // namespace

extern "C" {

// The handle lives as long as the program: there is no function that ends it.
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* args) {
  if (function == nullptr || args == nullptr) return ACL_ERROR_INVALID_PARAM;
  auto* const made = new (std::nothrow) KernelArguments;
  if (made == nullptr) return ACL_ERROR_BAD_ALLOC;
  *args = made;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle args, void* parameter, size_t size,
                               aclrtParamHandle* handle) {
  auto* const all = static_cast<KernelArguments*>(args);
  if (all == nullptr || all->finalized || parameter == nullptr || size == 0 || size > kLargest) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const std::size_t at = extend(all->bytes, size);
  std::memcpy(all->bytes.data() + at, parameter, size);
  all->parameters.push_back({at, false, {}});
  if (handle != nullptr) *handle = &all->parameters.back();
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle args, aclrtParamHandle* handle) {
  auto* const all = static_cast<KernelArguments*>(args);
  if (all == nullptr || all->finalized || handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  all->parameters.push_back({extend(all->bytes, sizeof(void*)), true, {}});
  *handle = &all->parameters.back();
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle args, aclrtParamHandle handle,
                                             size_t size, void** buffer) {
  auto* const all = static_cast<KernelArguments*>(args);
  auto* const parameter = static_cast<KernelArguments::Parameter*>(handle);
  if (all == nullptr || all->finalized || parameter == nullptr || !parameter->is_place ||
      size == 0 || size > kLargest || buffer == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  parameter->data.resize(size);
  *buffer = parameter->data.data();
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle args) {
  auto* const all = static_cast<KernelArguments*>(args);
  if (all == nullptr || all->finalized) return ACL_ERROR_INVALID_PARAM;
  for (const auto& parameter : all->parameters) {
    if (!parameter.is_place) continue;
    const std::size_t at = extend(all->bytes, parameter.data.size());
    if (!parameter.data.empty()) {
      std::memcpy(all->bytes.data() + at, parameter.data.data(), parameter.data.size());
    }
    all->places.push_back(
        {static_cast<std::uint32_t>(parameter.offset), static_cast<std::uint32_t>(at)});
  }
  all->finalized = true;
  return ACL_SUCCESS;
}

}  // extern "C"
