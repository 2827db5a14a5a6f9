// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/tensor.hpp"

#include <acl/acl.h>

#include <new>

std::size_t aclTensorDesc::elements() const {
  std::size_t count = 1;
  for (const auto size : sizes) count *= static_cast<std::size_t>(size);
  return count;
}

std::size_t aclTensorDesc::bytes() const {
  return elements() * aclDataTypeSize(type);
}

namespace {

constexpr int kMostSizes = 8;

// A tensor of that many elements is no less bytes than there are addresses.
bool is_countable(const std::int64_t* sizes, int count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  std::uint64_t elements = 1;
  for (int i = 0; i < count; ++i) {
    if (sizes[i] < 0) return false;
    const auto size = static_cast<std::uint64_t>(sizes[i]);
    if (size != 0 && elements > kMost / size) return false;
    elements *= size;
  }
  return true;
}

}  // namespace

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType type, int count, const int64_t* sizes,
                                   aclFormat format) {
  if (count < 0 || count > kMostSizes || (sizes == nullptr && count != 0) ||
      !is_countable(sizes, count)) {
    return nullptr;
  }
  auto* const tensor = new (std::nothrow) aclTensorDesc;
  if (tensor == nullptr) return nullptr;
  tensor->type = type;
  tensor->format = format;
  tensor->sizes.assign(sizes, sizes + count);
  return tensor;
}

void aclDestroyTensorDesc(const aclTensorDesc* tensor) {
  delete tensor;
}

aclDataType aclGetTensorDescType(const aclTensorDesc* tensor) {
  return tensor == nullptr ? ACL_DT_UNDEFINED : tensor->type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* tensor) {
  return tensor == nullptr ? ACL_FORMAT_UNDEFINED : tensor->format;
}

size_t aclGetTensorDescSize(const aclTensorDesc* tensor) {
  return tensor == nullptr ? 0 : tensor->bytes();
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* tensor) {
  return tensor == nullptr ? 0 : tensor->elements();
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* tensor) {
  return tensor == nullptr ? 0 : tensor->sizes.size();
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* tensor, size_t index, int64_t* size) {
  if (tensor == nullptr || size == nullptr || index >= tensor->sizes.size()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *size = tensor->sizes[index];
  return ACL_SUCCESS;
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  auto* const buffer = new (std::nothrow) aclDataBuffer;
  if (buffer != nullptr) *buffer = {data, size};
  return buffer;
}

aclError aclUpdateDataBuffer(aclDataBuffer* buffer, void* data, size_t size) {
  if (buffer == nullptr) return ACL_ERROR_INVALID_PARAM;
  *buffer = {data, size};
  return ACL_SUCCESS;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  if (buffer == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete buffer;
  return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* buffer) {
  return buffer == nullptr ? nullptr : buffer->data;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer) {
  return buffer == nullptr ? 0 : buffer->size;
}

aclopAttr* aclopCreateAttr(void) {
  return new (std::nothrow) aclopAttr;
}

void aclopDestroyAttr(const aclopAttr* attributes) {
  delete attributes;
}

aclError aclopSetAttrBool(aclopAttr* attributes, const char* name, uint8_t value) {
  if (attributes == nullptr || name == nullptr) return ACL_ERROR_INVALID_PARAM;
  attributes->is_set[name] = value != 0;
  attributes->numbers.erase(name);
  return ACL_SUCCESS;
}

aclError aclopSetAttrInt(aclopAttr* attributes, const char* name, int64_t value) {
  if (attributes == nullptr || name == nullptr) return ACL_ERROR_INVALID_PARAM;
  attributes->is_set[name] = value != 0;
  attributes->numbers.erase(name);
  return ACL_SUCCESS;
}

aclError aclopSetAttrFloat(aclopAttr* attributes, const char* name, float value) {
  if (attributes == nullptr || name == nullptr) return ACL_ERROR_INVALID_PARAM;
  attributes->is_set[name] = value < 0 || value > 0;
  attributes->numbers[name] = value;
  return ACL_SUCCESS;
}

aclError aclopSetAttrString(aclopAttr* attributes, const char* name, const char* value) {
  if (attributes == nullptr || name == nullptr || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  attributes->is_set[name] = true;
  attributes->numbers.erase(name);
  return ACL_SUCCESS;
}

}  // extern "C"
