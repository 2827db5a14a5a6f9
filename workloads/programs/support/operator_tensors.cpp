// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/operator_tensors.hpp"

#include "kernels/operators/axes.hpp"
#include "workloads/programs/support/tensor_reference.hpp"

namespace npu::workloads {
namespace {

using operators::Family;

// beta1 power, beta2 power, rate, decay, beta1, beta2, epsilon: all types hold them.
constexpr double kAdamW[] = {0.5, 0.75, 0.015625, 0.125, 0.875, 0.9375, 0.0009765625};

OperatorTensor flat(const std::vector<std::uint64_t>& sides, platform::DataType type) {
  return {1, operators::product_of(sides, sides.size()), "RowMajor", type};
}

// Of groups one each.
void describe_bias(const operators::NormalisedCall& call, OperatorTensors& to) {
  const std::uint64_t count = call.row->family == Family::kGrouped ? call.batch : 1;
  to.inputs.push_back(
      {1, call.n, "RowMajor", call.bias_type, count, !call.call.bias_dtype.empty()});
}

// Operators on rows, each by itself.
void describe_rows(const operators::NormalisedCall& call, const OperatorOptions& options,
                   OperatorTensors& to) {
  const std::uint64_t rows = call.sides[0], columns = call.sides[1];
  const auto type = call.type;
  const OperatorTensor x{rows, columns, "RowMajor", type};
  const OperatorTensor gamma{1, columns, "RowMajor", type};
  const OperatorTensor scales{1, rows, "RowMajor", DataType::kFp32};
  to.inputs = {x};
  to.results = {{rows, columns, "RowMajor", call.out_type}};
  const bool integers = type == DataType::kInt32;
  switch (call.row->family) {
    case Family::kRmsNorm:
      to.inputs.push_back(gamma);
      break;
    case Family::kLayerNorm:
      to.inputs = {x, gamma, gamma};
      break;
    case Family::kGather:
    case Family::kCacheWrite:
      to.inputs = {{call.sides[2], columns, "RowMajor", type},
                   {1, rows, "RowMajor", DataType::kInt32}};
      to.inputs[1].indices_below = call.sides[2];
      to.in_place = call.row->family == Family::kCacheWrite;
      if (!to.in_place) break;
      to.inputs.push_back(x);
      to.results = {to.inputs[0]};
      break;
    case Family::kSwiGlu:
      to.results[0].columns = columns / 2;
      break;
    case Family::kDynamicQuant:
      to.results.push_back(scales);
      break;
    case Family::kAddRmsNorm:
    case Family::kAddRmsNormDynamicQuant:
      to.inputs = {x, x, gamma};
      to.results.push_back(x);
      if (call.row->family == Family::kAddRmsNormDynamicQuant) to.results.push_back(scales);
      break;
    case Family::kDequantSwigluQuant:
      to.inputs.push_back({1, columns, "RowMajor", DataType::kFp32, 1, integers});
      to.inputs.push_back({1, rows, "RowMajor", DataType::kFp32, 1, integers});
      to.inputs.push_back({1, columns / 2, "RowMajor", DataType::kFp32, 1, options.quant_scales});
      to.results[0].columns = columns / 2;
      to.results.push_back(scales);
      break;
    default:  // one tensor, one result of its shape
      break;
  }
}

// Of operators on axes, groups and optimizers.
void describe_axes(const operators::NormalisedCall& call, const OperatorOptions& options,
                   OperatorTensors& to) {
  const auto& side = call.sides;
  const auto type = call.type;
  switch (call.row->family) {
    case Family::kBroadcast:
      to.inputs = {flat(call.call.shape, type), flat(call.call.other_shape, type)};
      if (call.row->name == "where") {
        to.inputs.push_back(flat(call.call.condition_shape, DataType::kInt8));
        to.inputs[2].indices_below = 2;
      }
      to.results = {{1, operators::product_of(side, side.size()), "RowMajor", call.out_type}};
      break;
    case Family::kTranspose:
    case Family::kSoftmaxAxis:
      to.inputs = {{1, operators::product_of(side, side.size()), "RowMajor", type}};
      to.results = {{1, to.inputs[0].columns, "RowMajor", call.out_type}};
      break;
    case Family::kGroupNorm:
      to.inputs = {{side[0] * side[1], side[2], "RowMajor", type},
                   {1, side[1], "RowMajor", type},
                   {1, side[1], "RowMajor", type}};
      to.results = {{side[0] * side[1], side[2], "RowMajor", call.out_type}};
      break;
    case Family::kAdamW:
      to.inputs.assign(4, {1, side[0], "RowMajor", type});
      to.inputs[2].positive = true;
      for (const double number : kAdamW) {
        OperatorTensor tensor{1, 1, "RowMajor", type};
        tensor.number = number;
        to.inputs.push_back(tensor);
      }
      to.results.assign(3, {1, side[0], "RowMajor", type});
      to.in_place = true;
      break;
    default:
      describe_rows(call, options, to);
  }
}

}  // namespace

OperatorTensors tensors_of(const operators::NormalisedCall& call, const OperatorOptions& options) {
  OperatorTensors to;
  const auto& side = call.sides;
  const auto type = call.type;
  switch (call.row->family) {
    case Family::kMatmul:
    case Family::kBatched:
    case Family::kSplitK:
    case Family::kQuant:
      to.inputs = {{call.m, call.k, call.layout_a, type, call.batch},
                   {call.k, call.n, call.layout_b, type, call.batch}};
      to.results = {{call.m, call.n, "RowMajor", call.out_type, call.batch}};
      if (call.row->family == Family::kQuant) {
        to.inputs.push_back({1, call.n, "RowMajor", DataType::kFp32, 1, options.channel_scales});
        to.inputs.push_back({1, call.m, "RowMajor", DataType::kFp32, 1, options.token_scales});
      }
      describe_bias(call, to);
      break;
    case Family::kGrouped:
      to.inputs = {{call.m, call.k, call.layout_a, type},
                   {call.k, call.n, call.layout_b, type, call.call.slice_k ? 1U : call.batch},
                   {1, call.batch, "RowMajor", DataType::kInt64}};
      to.results = {
          {call.m, call.n, "RowMajor", call.out_type, call.call.slice_k ? call.batch : 1U}};
      describe_bias(call, to);
      break;
    case Family::kGemv:
      to.inputs = {{side[0], side[1], call.layout_a, type}, {1, side[1], "RowMajor", type}};
      to.results = {{1, side[0], "RowMajor", call.out_type}};
      break;
    case Family::kVector:
      to.inputs.assign(4, {1, side[0], "RowMajor", type});
      to.results = {{1, side[0], "RowMajor", call.out_type}};
      break;
    case Family::kAttention:
      to.inputs = {{side[3], side[5], "RowMajor", type, side[0] * side[1]},
                   {side[4], side[5], "RowMajor", type, side[0] * side[2]},
                   {side[4], side[5], "RowMajor", type, side[0] * side[2]}};
      to.results = {{side[3], side[5], "RowMajor", call.out_type, side[0] * side[1]}};
      break;
    case Family::kTensors: {
      auto plain = plain_tensors_of(call);
      to.inputs = std::move(plain.inputs);
      to.results = std::move(plain.results);
      break;
    }
    default:
      describe_axes(call, options, to);
  }
  return to;
}

}  // namespace npu::workloads
