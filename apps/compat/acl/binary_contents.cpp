// SPDX-License-Identifier: Apache-2.0
// What a binary has.
#include <cstring>
#include <new>
#include <string>

#include "apps/compat/acl/direct.hpp"

using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::channel_of_this_thread;
using npu::compat::word;

namespace {

struct BinaryBytes {
  const void* data;
  size_t size;
};

// Names, each with a zero byte behind it.
aclError names_of(aclrtBinHandle binary, std::string* names) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  size_t bytes = 0;
  const aclError status = ask_for<Call::kBinaryKernels>(&bytes, {word(binary)});
  if (status != ACL_SUCCESS) return status;
  names->assign(reinterpret_cast<const char*>(channel_of_this_thread()->window()), bytes);
  return ACL_SUCCESS;
}

using FunctionInfo = npu::compat::wire::FunctionInfo;
aclError info_of(aclrtFuncHandle function, FunctionInfo* info) {
  if (function == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kFunctionInfo>({word(function)}, info);
}

constexpr uint64_t kCube = 0, kVector = 1;

}  // namespace

extern "C" {

aclError aclrtBinaryGetFunctionCount(aclrtBinHandle binary, uint32_t* count) {
  if (count == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::string names;
  const aclError status = names_of(binary, &names);
  if (status != ACL_SUCCESS) return status;
  *count = 0;
  for (const char c : names) *count += c == 0 ? 1U : 0U;
  return ACL_SUCCESS;
}

aclError aclrtBinaryEnumerateFunctions(aclrtBinHandle binary, aclrtFuncHandle* functions,
                                       uint32_t count) {
  if (functions == nullptr || count == 0) return ACL_ERROR_INVALID_PARAM;
  std::string names;
  aclError status = names_of(binary, &names);
  const char* name = names.c_str();
  for (uint32_t i = 0; status == ACL_SUCCESS && i < count; ++i) {
    if (name >= names.c_str() + names.size()) return ACL_ERROR_RT_PARAM_INVALID;
    status = aclrtBinaryGetFunction(binary, name, &functions[i]);
    name += std::strlen(name) + 1;
  }
  return status;
}

aclError aclrtGetFunctionName(aclrtFuncHandle function, uint32_t length, char* name) {
  if (name == nullptr || length == 0) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status != ACL_SUCCESS) return status;
  if (info.name_bytes >= length) return ACL_ERROR_RT_PARAM_INVALID;
  std::memcpy(name, channel_of_this_thread()->window(), info.name_bytes);
  name[info.name_bytes] = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle function, void** cube, void** vector) {
  if (cube == nullptr || vector == nullptr) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status != ACL_SUCCESS) return status;
  auto* const at = npu::compat::pointer(info.address);
  *cube = info.cores != kVector ? at : nullptr;
  *vector = info.cores != kCube ? at : nullptr;
  return ACL_SUCCESS;
}

aclError aclrtGetFunctionSize(aclrtFuncHandle function, size_t* cube, size_t* vector) {
  if (cube == nullptr || vector == nullptr) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status != ACL_SUCCESS) return status;
  *cube = info.cores != kVector ? info.bytes : 0;
  *vector = info.cores != kCube ? info.bytes : 0;
  return ACL_SUCCESS;
}

aclError aclrtFunctionGetBinary(aclrtFuncHandle function, aclrtBinHandle* binary) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status == ACL_SUCCESS) *binary = npu::compat::pointer(info.binary);
  return status;
}

aclError aclrtBinaryGetDevAddress(aclrtBinHandle binary, void** address, size_t* size) {
  if (address == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
  aclrtFuncHandle first = nullptr;
  const aclError found = aclrtBinaryEnumerateFunctions(binary, &first, 1);
  FunctionInfo info;
  const aclError status = found == ACL_SUCCESS ? info_of(first, &info) : found;
  if (status != ACL_SUCCESS) return status;
  *address = npu::compat::pointer(info.address);
  *size = info.bytes;
  return ACL_SUCCESS;
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle function, aclrtFuncAttribute attribute,
                                   int64_t* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status != ACL_SUCCESS) return status;
  const bool cube = info.cores == kCube, vector = info.cores == kVector;
  if (attribute == ACL_FUNC_ATTR_KERNEL_TYPE) {
    *value = cube ? ACL_KERNEL_TYPE_CUBE : vector ? ACL_KERNEL_TYPE_VECTOR : ACL_KERNEL_TYPE_MIX;
  } else if (attribute == ACL_FUNC_ATTR_KERNEL_RATIO) {
    *value = cube ? 1 << 16 : vector ? 1 : (1 << 16) + 2;
  } else {
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  }
  return ACL_SUCCESS;
}

aclError aclrtFunctionGetAvailDynUbufPerBlock(aclrtFuncHandle function, uint32_t flags,
                                              size_t* size) {
  if (size == nullptr || flags != 0) return ACL_ERROR_INVALID_PARAM;
  FunctionInfo info;
  const aclError status = info_of(function, &info);
  if (status == ACL_SUCCESS) *size = 0;
  return status;
}

aclrtBinary aclrtCreateBinary(const void* data, size_t size) {
  if (data == nullptr || size == 0) return nullptr;
  return new (std::nothrow) BinaryBytes{data, size};
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete static_cast<BinaryBytes*>(binary);
  return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* loaded) {
  if (binary == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto& bytes = *static_cast<const BinaryBytes*>(binary);
  return aclrtBinaryLoadFromData(bytes.data, bytes.size, nullptr, loaded);
}

}  // extern "C"
