// SPDX-License-Identifier: Apache-2.0
// Casts, and bytes without a sign as numbers.
#include <fmt/format.h>

#include <limits>

#include "workloads/network/arithmetic.hpp"
#include "workloads/network/host_nodes.hpp"
#include "workloads/network/lowering.hpp"
#include "workloads/network/moves.hpp"
#include "workloads/network/on_aicpu.hpp"
#include "workloads/network/text_casts.hpp"

namespace npu::network {
namespace {

bool is_real(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 ||
         type == ElementType::kBfloat16;
}

// Numbers come from the card, or go there.
Value cast_text(Steps& steps, const Value& x, ElementType type) {
  const auto from = steps.download(x);
  if (steps.failed()) return x;
  const auto made =
      type == ElementType::kString ? Result<Tensor>(to_text(from)) : from_text(from, type);
  if (!made) {
    steps.fail_with(made.error());
    return x;
  }
  std::uint64_t characters = 0;
  for (const auto& text : type == ElementType::kString ? made->strings : from.strings) {
    characters += text.size();
  }
  steps.compute(kInstructionsPerVisit * characters);
  return steps.upload(*made);
}

void lower_cast(Lowering& node) {
  const auto to = find_type(static_cast<int>(node.node.attribute("to", std::int64_t{0})));
  if (to == nullptr) return node.steps.refuse("a type that ONNX does not name");
  node.outputs = {cast(node.steps, node.inputs[0], to->type)};
}

void lower_cast_like(Lowering& node) {
  node.outputs = {cast(node.steps, node.inputs[0], node.inputs[1].type)};
}

}  // namespace

Value number(Steps& steps, ElementType type, double value) {
  if (type == ElementType::kInt32) {
    return steps.constant<std::int32_t>(type, {}, {static_cast<std::int32_t>(value)});
  }
  const auto wide = steps.constant<float>(ElementType::kFloat, {}, {static_cast<float>(value)});
  return type == ElementType::kFloat ? wide : elementwise_into(steps, type, "a", {wide});
}

Value as_int32(Steps& steps, const Value& x) {
  if (x.type == ElementType::kInt32) return x;
  const bool is_byte = row_of(x.type).bytes == 1;
  if (!is_byte) {
    steps.refuse(fmt::format("the cores have no instruction for {}", row_of(x.type).name));
    return x;
  }
  const auto wide =
      elementwise_into(steps, ElementType::kInt32, "a", {steps.view_as(x, ElementType::kInt8)});
  if (x.type != ElementType::kUint8) return wide;
  return elementwise(steps, "where(a<0,a+s,a)", {wide}, {256});
}

Value from_int32(Steps& steps, const Value& x, ElementType type) {
  if (type == ElementType::kInt32) return x;
  if (row_of(type).bytes != 1) {
    steps.refuse(fmt::format("int32 into {}", row_of(type).name));
    return x;
  }
  const bool is_unsigned = type == ElementType::kUint8;
  const auto wrapped = is_unsigned ? elementwise(steps, "where(a>s,a-s1,a)", {x}, {127, 256}) : x;
  return steps.view_as(elementwise_into(steps, ElementType::kInt8, "a", {wrapped}), type);
}

// Reals into integers lose their fraction (ONNX, Cast), what is not 0 is true.
Value cast(Steps& steps, const Value& x, ElementType type) {
  if (x.type == type) return x;
  if (x.type == ElementType::kString || type == ElementType::kString) {
    return cast_text(steps, x, type);
  }
  const bool from_byte = row_of(x.type).bytes == 1, to_byte = row_of(type).bytes == 1;
  if (is_real(x.type) && is_real(type)) return elementwise_into(steps, type, "a", {x});
  const bool on_cores = from_byte || (row_of(x.type).card && x.type != ElementType::kInt64);
  if (type == ElementType::kBool && on_cores) {
    const auto truth = elementwise_into(steps, ElementType::kInt8, "where(a!=0,1,0)",
                                        {from_byte ? as_int32(steps, x) : x});
    return steps.view_as(truth, type);
  }
  if (from_byte || x.type == ElementType::kInt32) {
    const auto wide = as_int32(steps, x);
    if (to_byte || type == ElementType::kInt32) return from_int32(steps, wide, type);
    if (is_real(type)) return elementwise_into(steps, type, "a", {wide});
  }
  if (is_real(x.type) && (to_byte || type == ElementType::kInt32)) {
    const auto whole = elementwise_into(steps, ElementType::kInt32, "trunc(a)", {x});
    return from_int32(steps, whole, type);
  }
  return cast_on_aicpu(steps, x, type);
}

const std::vector<LoweringRow> kCastLowerings{{"Cast", lower_cast},
                                              {"CastLike", lower_cast_like, 2}};

}  // namespace npu::network
