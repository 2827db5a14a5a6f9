// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/on_aicpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/operators/axes.hpp"
#include "workloads/network/moves.hpp"

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

bool is_for_aicpu(const Value& x) {
  const auto& row = row_of(x.type);
  return x.type == ElementType::kInt64 || (row.bytes != 1 && !row.card);
}

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
  if (operation >= abi::TensorOperation::kExponential && is_integer(a.type)) {
    steps.refuse(fmt::format("a function of reals of {}", row_of(a.type).name));
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

Value reduce_on_aicpu(Steps& steps, const std::string& how, const Value& x,
                      const std::vector<std::size_t>& axes, bool keep) {
  using Operation = abi::TensorOperation;
  const auto operation = how == "max"    ? Operation::kMaximum
                         : how == "min"  ? Operation::kMinimum
                         : how == "prod" ? Operation::kMultiply
                                         : Operation::kAdd;
  auto result = x;
  std::uint64_t count = 1;
  for (const auto axis : axes) {
    const std::uint64_t side = x.sides[axis];
    count *= side;
    if (side == 0) {
      steps.refuse("what is brought together from nothing");
      return {};
    }
    auto sum = rows_of_axis(steps, result, axis, 0, 1, 1);
    for (std::uint64_t i = 1; i < side; ++i) {
      const auto next = rows_of_axis(steps, result, axis, static_cast<std::int64_t>(i), 1, 1);
      sum = on_aicpu(steps, operation, x.type, sum, next);
    }
    result = sum;
  }
  if (how == "mean") {
    const auto whole =
        steps.constant<std::int64_t>(ElementType::kInt64, {}, {static_cast<std::int64_t>(count)});
    result =
        on_aicpu(steps, Operation::kDivide, x.type, result, cast_on_aicpu(steps, whole, x.type));
  }
  Sides sides;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone || keep) sides.push_back(gone ? 1 : x.sides[i]);
  }
  return steps.view(result, sides);
}

}  // namespace npu::network
