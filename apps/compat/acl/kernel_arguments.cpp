// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/kernel_arguments.hpp"

#include <acl/acl_rt.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "apps/compat/acl/direct.hpp"

namespace npu::compat {
namespace {

constexpr std::size_t kAlignment = 8;

constexpr std::size_t rounded(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

// Arguments of no parameters, in memory that is there.
aclError begin(aclrtFuncHandle function, void* handle, std::byte* memory, std::size_t room) {
  std::vector<wire::KernelParameter> parameters;
  const aclError known = parameters_of(function, &parameters);
  if (known != ACL_SUCCESS && known != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return known;
  auto* const made = new (handle) KernelArguments;
  made->memory = memory;
  made->room = room;
  made->has_layout = known == ACL_SUCCESS;
  made->layout_count = parameters.size();
  std::copy(parameters.begin(), parameters.end(), made->layout.begin());
  return ACL_SUCCESS;
}

// The next parameter of `size` bytes; null: the kernel has none such, or there is no room.
KernelArguments::Parameter* append(KernelArguments* all, std::size_t size) {
  if (all == nullptr || all->finalized || all->count == all->parameters.size()) return nullptr;
  std::size_t offset = rounded(all->size);
  if (all->has_layout) {
    if (all->count == all->layout_count || all->layout[all->count].size != size) return nullptr;
    offset = all->layout[all->count].offset;
  }
  if (offset > all->room || size > all->room - offset) return nullptr;
  if (offset > all->size) std::memset(all->memory + all->size, 0, offset - all->size);
  all->size = offset + size;
  auto& made = all->parameters[all->count++];
  made = {offset, size, false, 0, 0};
  return &made;
}

// Of these arguments, whoever made the handle.
bool is_of(const KernelArguments& all, const KernelArguments::Parameter* parameter) {
  return std::any_of(all.parameters.begin(),
                     all.parameters.begin() + static_cast<std::ptrdiff_t>(all.count),
                     [parameter](const auto& each) { return &each == parameter; });
}

}  // namespace

KernelArguments* arguments_of(aclrtArgsHandle handle) {
  auto* const all = static_cast<KernelArguments*>(handle);
  return all != nullptr && all->mark == KernelArguments::kMark ? all : nullptr;
}

AssembledArguments assembled(const KernelArguments& arguments) {
  AssembledArguments made;
  made.bytes.assign(arguments.memory, arguments.memory + arguments.size);
  for (std::size_t i = 0; i < arguments.count; ++i) {
    const auto& parameter = arguments.parameters[i];
    if (!parameter.is_place) continue;
    made.bytes.resize(rounded(made.bytes.size()));
    made.places.push_back({static_cast<std::uint32_t>(parameter.offset),
                           static_cast<std::uint32_t>(made.bytes.size())});
    const auto* const data = arguments.memory + parameter.data;
    made.bytes.insert(made.bytes.end(), data, data + parameter.data_size);
  }
  return made;
}

aclError parameters_of(aclrtFuncHandle function, std::vector<wire::KernelParameter>* parameters) {
  std::size_t count = 0;
  const aclError status = ask_for<Call::kFunctionParameters>(&count, {word(function)});
  if (status != ACL_SUCCESS) return status;
  parameters->resize(count);
  if (count != 0) {
    std::memcpy(parameters->data(), channel_of_this_thread()->window(),
                count * sizeof(wire::KernelParameter));
  }
  return ACL_SUCCESS;
}

}  // namespace npu::compat

extern "C" {

using npu::compat::arguments_of;
using npu::compat::KernelArguments;

// The handle lives as long as the program: there is no function that ends it.
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* args) {
  if (function == nullptr || args == nullptr) return ACL_ERROR_INVALID_PARAM;
  constexpr std::size_t kRoom = npu::compat::wire::kMostArguments;
  auto* const made = ::operator new(sizeof(KernelArguments) + kRoom, std::nothrow);
  if (made == nullptr) return ACL_ERROR_BAD_ALLOC;
  auto* const memory = static_cast<std::byte*>(made) + sizeof(KernelArguments);
  const aclError begun = npu::compat::begin(function, made, memory, kRoom);
  if (begun != ACL_SUCCESS) {
    ::operator delete(made);
    return begun;
  }
  *args = made;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle function, size_t* size) {
  if (function == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
  *size = sizeof(KernelArguments);
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle function, size_t user_size, size_t* size) {
  if (function == nullptr || size == nullptr || user_size > npu::compat::wire::kMostArguments) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *size = npu::compat::rounded(user_size);
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle function, aclrtArgsHandle args, void* memory,
                                      size_t size) {
  if (function == nullptr || args == nullptr || (memory == nullptr && size != 0) ||
      reinterpret_cast<std::uintptr_t>(args) % alignof(KernelArguments) != 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return npu::compat::begin(function, args, static_cast<std::byte*>(memory), size);
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle args, void* parameter, size_t size,
                               aclrtParamHandle* handle) {
  if (parameter == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  auto* const all = arguments_of(args);
  auto* const made = npu::compat::append(all, size);
  if (made == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(all->memory + made->offset, parameter, size);
  if (handle != nullptr) *handle = made;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle args, aclrtParamHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  auto* const made = npu::compat::append(arguments_of(args), sizeof(void*));
  if (made == nullptr) return ACL_ERROR_INVALID_PARAM;
  made->is_place = true;
  *handle = made;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle args, aclrtParamHandle handle,
                                             size_t size, void** buffer) {
  auto* const all = arguments_of(args);
  auto* const parameter = static_cast<KernelArguments::Parameter*>(handle);
  if (all == nullptr || all->finalized || !npu::compat::is_of(*all, parameter) ||
      !parameter->is_place || size == 0 || buffer == nullptr) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const std::size_t used = npu::compat::rounded(all->size);
  if (used > all->room || size > all->room - used) return ACL_ERROR_INVALID_PARAM;
  const std::size_t at = (all->room - size) / npu::compat::kAlignment * npu::compat::kAlignment;
  if (at < used) return ACL_ERROR_INVALID_PARAM;
  all->room = at;
  parameter->data = at;
  parameter->data_size = size;
  *buffer = all->memory + at;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle args, aclrtParamHandle handle, void* parameter,
                                   size_t size) {
  auto* const all = arguments_of(args);
  auto* const known = static_cast<KernelArguments::Parameter*>(handle);
  if (all == nullptr || !npu::compat::is_of(*all, known) || known->is_place ||
      parameter == nullptr || known->size != size) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::memcpy(all->memory + known->offset, parameter, size);
  all->finalized = false;
  return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle args) {
  auto* const all = arguments_of(args);
  if (all == nullptr || all->finalized) return ACL_ERROR_INVALID_PARAM;
  all->finalized = true;
  return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamCount(aclrtFuncHandle function, size_t* count) {
  if (function == nullptr || count == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::vector<npu::compat::wire::KernelParameter> parameters;
  const aclError status = npu::compat::parameters_of(function, &parameters);
  if (status == ACL_SUCCESS) *count = parameters.size();
  return status;
}

aclError aclrtFunctionGetParamInfo(aclrtFuncHandle function, size_t index, size_t* offset,
                                   size_t* size) {
  if (function == nullptr || offset == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::vector<npu::compat::wire::KernelParameter> parameters;
  const aclError status = npu::compat::parameters_of(function, &parameters);
  if (status != ACL_SUCCESS) return status;
  if (index >= parameters.size()) return ACL_ERROR_INVALID_PARAM;
  *offset = parameters[index].offset;
  *size = parameters[index].size;
  return ACL_SUCCESS;
}

}  // extern "C"
