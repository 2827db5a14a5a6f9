// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/on_aicpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/operators/axes.hpp"

namespace npu::network {
namespace {

std::optional<abi::TensorNumber> number_type(ElementType type) {
  using abi::TensorNumber;
  switch (type) {
    case ElementType::kFloat:
      return TensorNumber::kFloat32;
    case ElementType::kUint8:
      return TensorNumber::kUint8;
    case ElementType::kInt8:
      return TensorNumber::kInt8;
    case ElementType::kUint16:
      return TensorNumber::kUint16;
    case ElementType::kInt16:
      return TensorNumber::kInt16;
    case ElementType::kInt32:
      return TensorNumber::kInt32;
    case ElementType::kInt64:
      return TensorNumber::kInt64;
    case ElementType::kBool:
      return TensorNumber::kBool;
    case ElementType::kFloat16:
      return TensorNumber::kFloat16;
    case ElementType::kDouble:
      return TensorNumber::kFloat64;
    case ElementType::kUint32:
      return TensorNumber::kUint32;
    case ElementType::kUint64:
      return TensorNumber::kUint64;
    case ElementType::kBfloat16:
      return TensorNumber::kBfloat16;
    case ElementType::kString:
      break;
  }
  return std::nullopt;
}

// Of an operand that is repeated to `sides`.
std::array<std::uint64_t, abi::kTensorAxes> strides_of(const Sides& operand, const Sides& sides) {
  std::array<std::uint64_t, abi::kTensorAxes> strides{};
  std::uint64_t pace = 1;
  for (std::size_t i = operand.size(); i-- > 0;) {
    const std::size_t place = sides.size() - operand.size() + i;
    strides[place] = operand[i] == 1 ? 0 : pace;
    pace *= operand[i];
  }
  return strides;
}

}  // namespace

Value on_aicpu(Steps& steps, abi::TensorOperation operation, ElementType into, const Value& a,
               const Value& b) {
  const auto sides = operators::broadcast_sides(a.sides, b.sides);
  if (!sides) {
    steps.fail_with(sides.error());
    return {};
  }
  const auto from = number_type(a.type), to = number_type(into);
  if (!from || !to || a.type != b.type || sides->size() > abi::kTensorAxes) {
    steps.refuse(fmt::format("{} and {} into {} on {} axes", row_of(a.type).name,
                             row_of(b.type).name, row_of(into).name, sides->size()));
    return {};
  }
  auto result = steps.make(into, *sides);
  if (steps.failed() || result.elements() == 0) return result;
  abi::TensorWork work;
  work.a = a.address();
  work.b = b.address();
  work.result = result.address();
  work.operation = static_cast<std::uint8_t>(operation);
  work.operand = static_cast<std::uint8_t>(*from);
  work.into = static_cast<std::uint8_t>(*to);
  work.axes = static_cast<std::uint8_t>(sides->size());
  std::copy(sides->begin(), sides->end(), work.sides.begin());
  work.a_strides = strides_of(a.sides, *sides);
  work.b_strides = strides_of(b.sides, *sides);
  steps.run(work);
  return result;
}

Value cast_on_aicpu(Steps& steps, const Value& x, ElementType into) {
  return on_aicpu(steps, abi::TensorOperation::kCast, into, x, x);
}

}  // namespace npu::network
