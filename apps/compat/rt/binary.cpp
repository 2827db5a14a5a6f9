// SPDX-License-Identifier: Apache-2.0
// Binaries and their functions.
#include <runtime/kernel.h>

#include <cstring>

#include "apps/compat/client/own_memory.hpp"
#include "apps/compat/rt/outcome.hpp"
#include "apps/compat/rt/stubs.hpp"

using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::rt_ask;
using npu::compat::rt_ask_for;
using npu::compat::Stubs;
using npu::compat::word;

namespace {

// An aclrtEngineType; nobody has said which.
std::uint64_t cores_of(std::uint32_t magic) {
  if (magic == RT_DEV_BINARY_MAGIC_ELF_AICUBE) return 0;
  return magic == RT_DEV_BINARY_MAGIC_ELF_AIVEC ? npu::compat::wire::kVectorCores
                                                : npu::compat::wire::kAnyCores;
}

rtError_t load(const rtDevBinary_t* binary, void** handle) {
  if (binary == nullptr || handle == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  const bool built_in = binary->magic == NPUSIM_RT_MAGIC_BUILT_IN;
  const std::size_t size = built_in ? 0 : binary->length;
  if (!built_in && (binary->data == nullptr || size == 0 || size >= npu::compat::kWindow)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  auto* const channel = channel_of_this_thread();
  if (channel == nullptr) return npu::compat::kNoServer;
  if (size != 0 && !npu::compat::read_own(channel->window(), binary->data, size)) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  return rt_ask_for<Call::kBinaryLoad>(handle, {built_in, size, cores_of(binary->magic)}, size);
}

}  // namespace

extern "C" {

rtError_t rtDevBinaryRegister(const rtDevBinary_t* binary, void** handle) {
  return load(binary, handle);
}

rtError_t rtRegisterAllKernel(const rtDevBinary_t* binary, void** handle) {
  return load(binary, handle);
}

rtError_t rtDevBinaryUnRegister(void* handle) {
  if (handle == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  const rtError_t status = rt_ask<Call::kBinaryUnload>({word(handle)});
  if (status == RT_ERROR_NONE) Stubs::all().forget(handle);
  return status;
}

rtError_t rtsFuncGetByName(const rtBinHandle binary, const char* name, rtFuncHandle* function) {
  if (binary == nullptr || name == nullptr || function == nullptr) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  auto* const channel = channel_of_this_thread();
  if (channel == nullptr) return npu::compat::kNoServer;
  constexpr std::size_t kLongest = 4096;
  const std::size_t size = ::strnlen(name, kLongest);
  std::memcpy(channel->window(), name, size);
  return rt_ask_for<Call::kBinaryGetFunction>(function, {word(binary), size}, size);
}

rtError_t rtFunctionRegister(void* binary, const void* stub, const char* name, const void* info,
                             uint32_t mode) {
  static_cast<void>(info);
  static_cast<void>(mode);
  if (stub == nullptr || Stubs::all().function_of(stub) != nullptr) {
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  rtFuncHandle function = nullptr;
  const rtError_t status = rtsFuncGetByName(binary, name, &function);
  if (status != RT_ERROR_NONE) return status;
  return Stubs::all().add(stub, binary, function, name) ? RT_ERROR_NONE
                                                        : ACL_ERROR_RT_PARAM_INVALID;
}

rtError_t rtGetFunctionByName(const char* name, void** stub) {
  if (name == nullptr || stub == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  const void* const found = Stubs::all().find(name);
  if (found == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  *stub = const_cast<void*>(found);
  return RT_ERROR_NONE;
}

}  // extern "C"
