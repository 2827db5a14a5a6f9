// SPDX-License-Identifier: Apache-2.0
// Products of matrices, of reals and of bytes, and what quantises.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"

namespace npu::network {
namespace {

void lower_matmul(Lowering& node) {
  node.outputs = {matmul(node.steps, node.inputs[0], node.inputs[1])};
}

void lower_gemm(Lowering& node) {
  auto& steps = node.steps;
  const auto flag = [&node](const char* name) {
    return node.node.attribute(name, std::int64_t{0}) != 0;
  };
  const float alpha = node.node.attribute("alpha", 1.0F), beta = node.node.attribute("beta", 1.0F);
  const bool a_lies = flag("transA"), b_lies = flag("transB");
  const bool adds = node.has(2) && alpha == 1 && beta == 1 &&
                    takes_bias(node.inputs[0], node.inputs[1], b_lies, node.inputs[2]);
  auto result = product(steps, node.inputs[0], node.inputs[1], a_lies, b_lies,
                        adds ? &node.inputs[2] : nullptr);
  if (adds) {
    // The accumulators began with it.
  } else if (node.has(2)) {
    result = broadcast(steps, "a*s+b*s1", result, node.inputs[2], {alpha, beta});
  } else if (alpha != 1) {
    result = elementwise(steps, "a*s", {result}, {alpha});
  }
  node.outputs = {result};
}

// Bytes less their zero point, as float.
Value centred(Steps& steps, const Value& x, const Value* zero) {
  Value wide = as_int32(steps, x);
  if (zero != nullptr) wide = broadcast(steps, "a-b", wide, as_int32(steps, *zero));
  return elementwise_into(steps, ElementType::kFloat, "a", {wide});
}

// Of a product's A: a zero point for each row, or one.
Value by_rows(Steps& steps, const Value& zero) {
  return zero.elements() == 1 ? zero : steps.view(zero, {zero.elements(), 1});
}

// As int8: bytes without a sign less 128.
Value signed_bytes(Steps& steps, const Value& x) {
  if (x.type != ElementType::kUint8) return x;
  const auto shifted = elementwise(steps, "a-s", {as_int32(steps, x)}, {128});
  return from_int32(steps, shifted, ElementType::kInt8);
}

// Sums of (a - za)(b - zb) in int32: a product of bytes, less what the zero points add.
Value integer_product(Steps& steps, const Value& a, const Value* a_zero, const Value& b,
                      const Value* b_zero) {
  if (a.axes() == 0 || b.axes() == 0) {
    steps.refuse("a product of a number");
    return {};
  }
  const auto left = signed_bytes(steps, a), right = signed_bytes(steps, b);
  auto sums = matmul(steps, left, right);
  const auto zero_of = [&](const Value& x, const Value* zero) {
    const Value none = steps.constant<std::int8_t>(x.type, {}, {0});
    return as_int32(steps, signed_bytes(steps, zero == nullptr ? none : *zero));
  };
  const auto a_shift = by_rows(steps, zero_of(a, a_zero)), b_shift = zero_of(b, b_zero);
  const std::size_t last = a.axes() - 1, rows = b.axes() < 2 ? 0 : b.axes() - 2;
  const auto sum_of = [&](const Value& x, std::size_t axis, bool keep) {
    return reduce(steps, "sum", as_int32(steps, x), {axis}, keep);
  };
  // A vector has no side that stays.
  const bool is_row = a.axes() == 1, is_column = b.axes() == 1;
  const auto of_a = sum_of(left, last, !is_row && !is_column);
  const auto of_b = sum_of(right, rows, !is_row && !is_column);
  const auto terms = static_cast<float>(a.sides.back());
  sums = broadcast(steps, "a-b", sums, broadcast(steps, "a*b", of_a, b_shift));
  sums = broadcast(steps, "a-b", sums, broadcast(steps, "a*b", of_b, a_shift));
  const auto both = elementwise(steps, "a*s", {broadcast(steps, "a*b", a_shift, b_shift)}, {terms});
  return broadcast(steps, "a+b", sums, both);
}

void lower_matmul_integer(Lowering& node) {
  const auto zero = [&node](std::size_t i) { return node.has(i) ? &node.inputs[i] : nullptr; };
  node.outputs = {integer_product(node.steps, node.inputs[0], zero(2), node.inputs[1], zero(3))};
}

void lower_qlinear_matmul(Lowering& node) {
  auto& steps = node.steps;
  const auto& in = node.inputs;
  const auto sums = elementwise_into(steps, ElementType::kFloat, "a",
                                     {integer_product(steps, in[0], &in[2], in[3], &in[5])});
  const auto scale =
      broadcast(steps, "a/b", broadcast(steps, "a*b", by_rows(steps, in[1]), in[4]), in[6]);
  node.outputs = {quantised(steps, broadcast(steps, "a*b", sums, scale), in[7])};
}

// A table of one side lies along an axis.
Value along(Lowering& node, const Value& table, const Value& x) {
  if (table.elements() == 1 || table.axes() != 1) return table;
  const auto axis = node.axis(node.node.attribute("axis", std::int64_t{1}), x.axes());
  Sides sides(x.axes(), 1);
  if (axis < sides.size()) sides[axis] = table.elements();
  return node.steps.view(table, sides);
}

void lower_quantize(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  const auto zero = node.has(2) ? along(node, node.inputs[2], x)
                                : steps.constant<std::uint8_t>(ElementType::kUint8, {}, {0});
  const auto scaled = broadcast(steps, "a/b", x, along(node, node.inputs[1], x));
  node.outputs = {quantised(steps, scaled, zero)};
}

void lower_dequantize(Lowering& node) {
  auto& steps = node.steps;
  const auto& x = node.inputs[0];
  Value zero;
  if (node.has(2)) zero = along(node, node.inputs[2], x);
  const auto whole = centred(steps, x, node.has(2) ? &zero : nullptr);
  node.outputs = {broadcast(steps, "a*b", whole, along(node, node.inputs[1], x))};
}

// y: bytes from the range of x, its scale and its zero point.
void lower_dynamic_quantize(Lowering& node) {
  auto& steps = node.steps;
  const auto flat = steps.view(node.inputs[0], {node.inputs[0].elements()});
  const auto high = elementwise(steps, "max(a,s)", {reduce(steps, "max", flat, {0}, false)}, {0});
  const auto low = elementwise(steps, "min(a,s)", {reduce(steps, "min", flat, {0}, false)}, {0});
  const auto scale = elementwise(steps, "(a-b)/s", {high, low}, {255});
  const auto zero = elementwise_into(steps, ElementType::kInt32, "rint(min(max((0-a)/b,s),s1))",
                                     {low, scale}, {0, 255});
  const auto zero_byte = from_int32(steps, zero, ElementType::kUint8);
  const auto scaled = broadcast(steps, "a/b", node.inputs[0], scale);
  node.outputs = {quantised(steps, scaled, zero_byte), scale, zero_byte};
}

}  // namespace

Value quantised(Steps& steps, const Value& x, const Value& zero) {
  const bool is_unsigned = zero.type == ElementType::kUint8;
  const auto shift = elementwise_into(steps, ElementType::kFloat, "a", {as_int32(steps, zero)});
  const auto shifted = broadcast(steps, "rint(a)+b", x, shift);
  const auto bound =
      elementwise_into(steps, ElementType::kInt32, "min(max(a,s),s1)", {shifted},
                       is_unsigned ? std::vector<float>{0, 255} : std::vector<float>{-128, 127});
  return from_int32(steps, bound, zero.type);
}

const std::vector<LoweringRow> kProductLowerings{
    {"MatMul", lower_matmul, 2},
    {"Gemm", lower_gemm, 2},
    {"MatMulInteger", lower_matmul_integer, 2},
    {"QLinearMatMul", lower_qlinear_matmul, 8},
    {"QuantizeLinear", lower_quantize, 2},
    {"DequantizeLinear", lower_dequantize, 2},
    {"DynamicQuantizeLinear", lower_dynamic_quantize},
};

}  // namespace npu::network
