// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/acl/operator_kernels.hpp"
#include "apps/compat/acl/refused.hpp"

#include <acl/npusim_kernels.h>

#include <algorithm>

namespace npu::compat {

bool is_plain(const aclTensorDesc* tensor) {
  return tensor->format == ACL_FORMAT_ND || tensor->format == ACL_FORMAT_NCHW ||
         tensor->format == ACL_FORMAT_NHWC;
}

namespace {

enum class Shape : std::uint8_t { kOne, kTwo, kMatmul };

struct Row {
  std::string_view name;
  const char* kernel;
  Shape shape;
};

constexpr Row kRows[] = {
    {"Add", "add", Shape::kTwo},
    {"Sub", "sub", Shape::kTwo},
    {"Mul", "mul", Shape::kTwo},
    {"Maximum", "max", Shape::kTwo},
    {"Minimum", "min", Shape::kTwo},
    {"Relu", "relu", Shape::kOne},
    {"Exp", "exp", Shape::kOne},
    {"Identity", "copy", Shape::kOne},
    {"TensorMove", "copy", Shape::kOne},
    {"MatMul", "matmul", Shape::kMatmul},
    {"MatMulV2", "matmul", Shape::kMatmul},
};

bool is_float(aclDataType type) {
  return type == ACL_FLOAT || type == ACL_FLOAT16 || type == ACL_BF16;
}

std::uint64_t address_of(const aclDataBuffer* buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer->data);
}

aclError elementwise(const OperatorCall& call, OperatorLaunch* launch) {
  const auto& first = *call.input_tensors.front();
  if (!is_float(first.type)) return ACL_ERROR_OP_INPUT_NOT_MATCH;
  const auto is_same = [&first](const aclTensorDesc* other) {
    return other->type == first.type && other->sizes == first.sizes;
  };
  const auto& others = call.input_tensors;
  if (!std::all_of(others.begin(), others.end(), is_same)) return ACL_ERROR_OP_INPUT_NOT_MATCH;
  if (!is_same(call.output_tensors.front())) return ACL_ERROR_OP_OUTPUT_NOT_MATCH;
  npusim_elementwise_args all = {};
  all.to = address_of(call.outputs.front());
  all.a = address_of(call.inputs.front());
  if (call.inputs.size() > 1) all.b = address_of(call.inputs[1]);
  all.count = first.elements();
  all.type = static_cast<std::uint64_t>(first.type);
  put(all, launch);
  return ACL_SUCCESS;
}

aclError matmul(const OperatorCall& call, OperatorLaunch* launch) {
  const auto &a = *call.input_tensors[0], &b = *call.input_tensors[1];
  const auto& c = *call.output_tensors.front();
  const bool known = is_float(a.type) || a.type == ACL_INT8;
  if (!known || a.type != b.type || a.sizes.size() != 2 || b.sizes.size() != 2 ||
      a.sizes[1] != b.sizes[0] || a.elements() == 0) {
    return ACL_ERROR_OP_INPUT_NOT_MATCH;
  }
  const auto type = a.type == ACL_INT8 ? ACL_INT32 : a.type;
  const std::vector<std::int64_t> sizes = {a.sizes[0], b.sizes[1]};
  if (c.type != type || c.sizes != sizes) return ACL_ERROR_OP_OUTPUT_NOT_MATCH;
  const auto is_small = [](std::int64_t size) { return size <= INT64_C(0x7FFFFFFF); };
  if (!is_small(a.sizes[0]) || !is_small(a.sizes[1]) || !is_small(b.sizes[1])) {
    return ACL_ERROR_OP_INPUT_NOT_MATCH;
  }
  npusim_matmul_args all = {};
  all.a = address_of(call.inputs[0]);
  all.b = address_of(call.inputs[1]);
  all.c = address_of(call.outputs.front());
  all.m = static_cast<std::uint32_t>(a.sizes[0]);
  all.k = static_cast<std::uint32_t>(a.sizes[1]);
  all.n = static_cast<std::uint32_t>(b.sizes[1]);
  all.type = static_cast<std::uint32_t>(a.type);
  put(all, launch);
  return ACL_SUCCESS;
}

aclError check_attributes(const OperatorCall& call, Shape shape) {
  if (call.attributes == nullptr) return ACL_SUCCESS;
  for (const auto& [name, set] : call.attributes->is_set) {
    const bool known =
        shape == Shape::kMatmul && (name == "transpose_x1" || name == "transpose_x2");
    if (known && !set) continue;
    return refused_with(
        ACL_ERROR_OP_ATTR_NOT_MATCH,
        std::string(call.name) + ": attribute " + name +
            (known                     ? ": found true; allowed: false"
             : shape == Shape::kMatmul ? ": no such one; allowed: transpose_x1, transpose_x2"
                                       : ": no such one; it has none"));
  }
  return ACL_SUCCESS;
}

aclError check_buffers(const std::vector<const aclTensorDesc*>& tensors,
                       const std::vector<const aclDataBuffer*>& buffers) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_plain(tensors[i])) return ACL_ERROR_FORMAT_NOT_MATCH;
    if (buffers[i]->data == nullptr || buffers[i]->size < tensors[i]->bytes()) {
      return ACL_ERROR_INVALID_PARAM;
    }
  }
  return ACL_SUCCESS;
}

}  // namespace

aclError make_launch(const OperatorCall& call, OperatorLaunch* launch) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& each) { return each.name == call.name; });
  if (row == std::end(kRows)) return ACL_ERROR_OP_NOT_FOUND;
  if (call.inputs.size() != (row->shape == Shape::kOne ? 1 : 2)) {
    return ACL_ERROR_OP_INPUT_NOT_MATCH;
  }
  if (call.outputs.size() != 1) return ACL_ERROR_OP_OUTPUT_NOT_MATCH;
  if (const auto wrong = check_attributes(call, row->shape); wrong != ACL_SUCCESS) return wrong;
  launch->kernel = row->kernel;
  const auto made = row->shape == Shape::kMatmul ? matmul(call, launch) : elementwise(call, launch);
  if (made != ACL_SUCCESS) return made;
  const auto wrong = check_buffers(call.input_tensors, call.inputs);
  return wrong != ACL_SUCCESS ? wrong : check_buffers(call.output_tensors, call.outputs);
}

}  // namespace npu::compat
