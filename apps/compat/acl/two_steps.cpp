// SPDX-License-Identifier: Apache-2.0
// Operators in two steps: what they need, then their work (aclnn).
#include <acl/acl.h>
#include <acl/npusim_kernels.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

#include <cstring>
#include <memory>
#include <new>

#include "apps/compat/acl/dumps.hpp"
#include "apps/compat/acl/operator_kernels.hpp"
#include "apps/compat/acl/tensor.hpp"
#include "apps/compat/client/request.hpp"

struct aclTensor {
  aclTensorDesc what;
  void* data = nullptr;
};
struct aclScalar {
  float value = 0;
};
struct aclOpExecutor {
  const char* kernel = nullptr;
  aclTensor self, other, out;
  float alpha = 1;

  bool scales() const { return alpha < 1 || alpha > 1; }
  std::size_t workspace() const { return scales() ? out.what.bytes() : 0; }
};

namespace {

using npu::compat::word;

bool is_row_by_row(const int64_t* sizes, const int64_t* strides, uint64_t count) {
  int64_t stride = 1;
  for (uint64_t i = count; i-- > 0;) {
    if (strides[i] != stride && sizes[i] != 1) return false;
    stride *= sizes[i];
  }
  return true;
}

aclnnStatus prepare(const char* kernel, const aclTensor* self, const aclTensor* other, float alpha,
                    const aclTensor* out, uint64_t* size, aclOpExecutor** executor) {
  if (self == nullptr || other == nullptr || out == nullptr || size == nullptr ||
      executor == nullptr) {
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  const auto type = out->what.type;
  const bool known = type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
  const auto is_same = [out](const aclTensor* each) {
    return each->what.type == out->what.type && each->what.sizes == out->what.sizes;
  };
  if (!known || !is_same(self) || !is_same(other)) return ACLNN_ERR_PARAM_INVALID;
  auto made = std::make_unique<aclOpExecutor>(aclOpExecutor{kernel, *self, *other, *out, alpha});
  if (made->scales() && type != ACL_FLOAT) return ACLNN_ERR_PARAM_INVALID;
  *size = made->workspace();
  *executor = made.release();
  return ACLNN_SUCCESS;
}

aclError launch(const char* kernel, const aclTensor& out, const void* a, uint64_t b, void* to,
                aclrtStream stream) {
  const npusim_elementwise_args all = {word(to), word(a), b, out.what.elements(),
                                       static_cast<uint64_t>(out.what.type)};
  npu::compat::OperatorLaunch what;
  what.kernel = kernel;
  npu::compat::put(all, &what);
  return npu::compat::run(what, stream);
}

// Kernels alone, so that a group of a model's tasks has it.
aclnnStatus launch_all(const aclOpExecutor& call, void* workspace, uint64_t size,
                       aclrtStream stream) {
  const auto& [kernel, self, other, out, alpha] = call;
  if (!call.scales()) return launch(kernel, out, self.data, word(other.data), out.data, stream);
  if (workspace == nullptr || size < call.workspace()) return ACLNN_ERR_PARAM_INVALID;
  uint32_t bits = 0;
  std::memcpy(&bits, &alpha, sizeof bits);
  const aclError status = launch("muls", out, other.data, bits, workspace, stream);
  if (status != ACL_SUCCESS) return status;
  return launch(kernel, out, self.data, word(workspace), out.data, stream);
}

aclnnStatus execute(const char* name, void* workspace, uint64_t size, aclOpExecutor* executor,
                    aclrtStream stream) {
  if (executor == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  const std::unique_ptr<aclOpExecutor> call(executor);
  const auto bytes = call->out.what.bytes();
  if (bytes == 0) return ACLNN_SUCCESS;
  const long number = npu::compat::dump_number();
  if (number < 0) return launch_all(*call, workspace, size, stream);
  aclError status = npu::compat::dump(
      name, number, "input", {{call->self.data, bytes}, {call->other.data, bytes}}, stream);
  if (status == ACL_SUCCESS) status = launch_all(*call, workspace, size, stream);
  if (status != ACL_SUCCESS) return status;
  return npu::compat::dump(name, number, "output", {{call->out.data, bytes}}, stream);
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* sizes, uint64_t count, aclDataType type,
                           const int64_t* strides, int64_t offset, aclFormat format,
                           const int64_t* storage_sizes, uint64_t storage_count, void* data) {
  static_cast<void>(storage_sizes);
  static_cast<void>(storage_count);
  constexpr uint64_t kMostSizes = 8;
  if (count > kMostSizes || offset != 0 ||
      (count != 0 && (sizes == nullptr || strides == nullptr)) || data == nullptr) {
    return nullptr;
  }
  const std::unique_ptr<aclTensorDesc, void (*)(const aclTensorDesc*)> what(
      aclCreateTensorDesc(type, static_cast<int>(count), sizes, format), aclDestroyTensorDesc);
  if (what == nullptr || !is_row_by_row(sizes, strides, count)) return nullptr;
  return new (std::nothrow) aclTensor{*what, data};
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  delete tensor;
  return ACLNN_SUCCESS;
}

aclScalar* aclCreateScalar(void* value, aclDataType type) {
  if (value == nullptr || type != ACL_FLOAT) return nullptr;
  return new (std::nothrow) aclScalar{*static_cast<const float*>(value)};
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  delete scalar;
  return ACLNN_SUCCESS;
}

aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                     const aclScalar* alpha, const aclTensor* out,
                                     uint64_t* workspace_size, aclOpExecutor** executor) {
  if (alpha == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
  return prepare("add", self, other, alpha->value, out, workspace_size, executor);
}

aclnnStatus aclnnAdd(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                     aclrtStream stream) {
  return execute("Add", workspace, workspace_size, executor, stream);
}

aclnnStatus aclnnMulGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                     const aclTensor* out, uint64_t* workspace_size,
                                     aclOpExecutor** executor) {
  return prepare("mul", self, other, 1, out, workspace_size, executor);
}

aclnnStatus aclnnMul(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                     aclrtStream stream) {
  return execute("Mul", workspace, workspace_size, executor, stream);
}

}  // extern "C"
