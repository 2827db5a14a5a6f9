// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/operators/axes.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/sides.hpp"

namespace npu::network {
namespace {

using operators::OperatorCall;

void take_scalars(const std::vector<float>& scalars, OperatorCall& call) {
  std::copy(scalars.begin(), scalars.end(), call.scalars.begin());
}

}  // namespace

Value elementwise(Steps& steps, const std::string& expression, const std::vector<Value>& values,
                  const std::vector<float>& scalars) {
  return elementwise_into(steps, values.front().type, expression, values, scalars);
}

Value elementwise_into(Steps& steps, ElementType type, const std::string& expression,
                       const std::vector<Value>& values, const std::vector<float>& scalars) {
  const Value& first = values.front();
  auto result = steps.make(type, first.sides);
  OperatorCall call;
  call.name = "elementwise";
  call.dtype = steps.computes(first);
  call.out_dtype = steps.computes(result);
  call.shape = {first.elements()};
  call.expression = expression;
  take_scalars(scalars, call);
  std::vector<const Value*> inputs;
  inputs.reserve(values.size());
  for (const auto& value : values) inputs.push_back(&value);
  steps.run(call, inputs, result);
  return result;
}

Value broadcast(Steps& steps, const std::string& expression, const Value& a, const Value& b,
                const std::vector<float>& scalars) {
  return broadcast_into(steps, a.type, expression, a, b, scalars);
}

Value broadcast_into(Steps& steps, ElementType type, const std::string& expression, const Value& a,
                     const Value& b, const std::vector<float>& scalars) {
  const auto sides = operators::broadcast_sides(a.sides, b.sides);
  if (!sides) {
    steps.fail_with(sides.error());
    return {};
  }
  auto result = steps.make(type, *sides);
  OperatorCall call;
  call.name = "broadcast";
  call.dtype = steps.computes(a);
  call.out_dtype = steps.computes(result);
  call.shape = or_one(a.sides);
  call.other_shape = or_one(b.sides);
  call.expression = expression;
  take_scalars(scalars, call);
  steps.run(call, {&a, &b}, result);
  return result;
}

bool takes_bias(const Value& a, const Value& b, bool transpose_b, const Value& bias) {
  const bool fits = a.type == ElementType::kFloat || a.type == ElementType::kFloat16;
  return fits && bias.type == a.type && a.axes() == 2 && b.axes() == 2 && bias.axes() == 1 &&
         bias.elements() == b.sides[transpose_b ? 0 : 1];
}

Value product(Steps& steps, const Value& a, const Value& b, bool transpose_a, bool transpose_b,
              const Value* bias) {
  if (a.axes() < 2 || a.axes() != b.axes()) {
    steps.refuse(fmt::format("a product of {} and {}", text_of(a.sides), text_of(b.sides)));
    return {};
  }
  const std::size_t last = a.axes() - 1;
  const std::uint64_t m = a.sides[transpose_a ? last : last - 1];
  const std::uint64_t k = a.sides[transpose_a ? last - 1 : last];
  const std::uint64_t n = b.sides[transpose_b ? last - 1 : last];
  const bool fits = b.sides[transpose_b ? last : last - 1] == k &&
                    std::equal(a.sides.begin(), a.sides.end() - 2, b.sides.begin());
  if (!fits)
    steps.refuse(fmt::format("a product of {} and {}", text_of(a.sides), text_of(b.sides)));
  Sides sides(a.sides.begin(), a.sides.end() - 2);
  sides.insert(sides.end(), {m, n});
  auto result = steps.make(a.type == ElementType::kInt8 ? ElementType::kInt32 : a.type, sides);
  OperatorCall call;
  call.dtype = steps.computes(a);
  call.out_dtype = steps.computes(result);
  call.transpose_a = transpose_a;
  call.transpose_b = transpose_b;
  if (a.axes() == 2) {
    call.name = "basic_matmul";
    call.shape = {m, n, k};
  } else {
    call.name = "batched_matmul";
    call.shape = {product_of(a.sides, 0, last - 1), m, n, k};
  }
  if (bias == nullptr) {
    steps.run(call, {&a, &b}, result);
  } else {
    call.bias_dtype = steps.computes(*bias);
    steps.run(call, {&a, &b, bias}, result);
  }
  return result;
}

// Rows of A are one matrix where B is one; else each batch has its own.
Value matmul(Steps& steps, const Value& a, const Value& b) {
  const bool row = a.axes() == 1, column = b.axes() == 1;
  Value left = row ? steps.view(a, {1, a.elements()}) : a;
  const Value right = column ? steps.view(b, {b.elements(), 1}) : b;
  if (left.axes() < 2 || right.axes() < 2) {
    steps.refuse("a product of a number");
    return {};
  }
  auto sides = left.sides;
  sides.back() = right.sides.back();
  Value result;
  if (right.axes() == 2) {
    left = steps.view(left, {product_of(left.sides, 0, left.axes() - 1), left.sides.back()});
    result = product(steps, left, right);
  } else {
    const auto batch = [](const Value& x) { return Sides(x.sides.begin(), x.sides.end() - 2); };
    const auto common = operators::broadcast_sides(batch(left), batch(right));
    if (!common) {
      steps.refuse(common.error().context);
      return {};
    }
    const auto widened = [&](const Value& x) {
      auto wide = *common;
      wide.insert(wide.end(), x.sides.end() - 2, x.sides.end());
      return repeat(steps, x, wide);
    };
    result = product(steps, widened(left), widened(right));
    sides = result.sides;
  }
  if (steps.failed()) return result;
  if (column) sides.pop_back();
  if (row) sides.erase(sides.end() - (column ? 1 : 2));
  return steps.view(result, sides);
}

Value reduce(Steps& steps, const std::string& how, const Value& x, std::vector<std::size_t> axes,
             bool keep) {
  std::sort(axes.begin(), axes.end());
  Sides kept, result_sides;
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < x.axes(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone) {
      order.push_back(i);
      kept.push_back(x.sides[i]);
    }
    if (!gone || keep) result_sides.push_back(gone ? 1 : x.sides[i]);
  }
  const bool together = axes.empty() || axes.back() - axes.front() + 1 == axes.size();
  Value turned = x;
  std::size_t first = axes.empty() ? x.axes() : axes.front();
  if (!together) {
    order.insert(order.end(), axes.begin(), axes.end());
    turned = transpose(steps, x, order);
    first = kept.size();
  }
  auto result = steps.make(x.type, result_sides);
  OperatorCall call;
  call.name = "reduce_" + how;
  call.dtype = call.out_dtype = steps.computes(x);
  call.shape = {product_of(turned.sides, 0, first),
                product_of(turned.sides, first, first + axes.size()),
                product_of(turned.sides, first + axes.size(), turned.axes())};
  steps.run(call, {&turned}, result);
  return result;
}

Value softmax(Steps& steps, const Value& x, std::size_t axis) {
  auto result = steps.make(x.type, x.sides);
  OperatorCall call;
  call.dtype = call.out_dtype = steps.computes(x);
  const std::uint64_t outer = product_of(x.sides, 0, axis);
  const bool is_last = axis + 1 == x.axes();
  call.name = is_last ? "softmax" : "softmax_axis";
  call.shape = {outer, x.sides[axis]};
  if (!is_last) call.shape.push_back(product_of(x.sides, axis + 1, x.axes()));
  steps.run(call, {&x}, result);
  return result;
}

Value log_softmax(Steps& steps, const Value& x, std::size_t axis) {
  const auto shifted = broadcast(steps, "a-b", x, reduce(steps, "max", x, {axis}, true));
  const auto sum = reduce(steps, "sum", elementwise(steps, "exp(a)", {shifted}), {axis}, true);
  return broadcast(steps, "a-b", shifted, elementwise(steps, "ln(a)", {sum}));
}

Value layer_norm(Steps& steps, const Value& x, std::size_t axis, const Value& scale,
                 const Value* bias, float epsilon) {
  auto result = steps.make(x.type, x.sides);
  const std::uint64_t columns = product_of(x.sides, axis, x.axes());
  const auto none = bias == nullptr ? steps.zeros(x.type, {columns}) : Value{};
  OperatorCall call;
  call.name = "layer_norm";
  call.dtype = call.out_dtype = steps.computes(x);
  call.shape = {product_of(x.sides, 0, axis), columns};
  call.epsilon = epsilon;
  steps.run(call, {&x, &scale, bias == nullptr ? &none : bias}, result);
  return result;
}

Value rms_norm(Steps& steps, const Value& x, const Value& scale, float epsilon) {
  auto result = steps.make(x.type, x.sides);
  OperatorCall call;
  call.name = "rms_norm";
  call.dtype = call.out_dtype = steps.computes(x);
  call.shape = {product_of(x.sides, 0, x.axes() - 1), x.sides.back()};
  call.epsilon = epsilon;
  steps.run(call, {&x, &scale}, result);
  return result;
}

Value place_of_largest(Steps& steps, const Value& x) {
  auto result = steps.make(ElementType::kInt32, Sides(x.sides.begin(), x.sides.end() - 1));
  OperatorCall call;
  call.name = "argmax";
  call.dtype = steps.computes(x);
  call.out_dtype = "int32";
  call.shape = {product_of(x.sides, 0, x.axes() - 1), x.sides.back()};
  steps.run(call, {&x}, result);
  return result;
}

Extremes extremes(Steps& steps, const Value& x, std::uint64_t count, bool largest) {
  auto sides = x.sides;
  sides.back() = count;
  Extremes found{steps.make(x.type, sides), steps.make(ElementType::kInt32, sides)};
  OperatorCall call;
  call.name = largest ? "top_k" : "bottom_k";
  call.dtype = call.out_dtype = steps.computes(x);
  call.shape = {product_of(x.sides, 0, x.axes() - 1), x.sides.back(), count};
  call.results[1] = found.indices.address();
  steps.run(call, {&x}, found.values);
  return found;
}

}  // namespace npu::network
