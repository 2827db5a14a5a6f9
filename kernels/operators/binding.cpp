// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/binding.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/operators/axes.hpp"
#include "kernels/operators/matrix_layout.hpp"

namespace npu::operators {
namespace {

std::uint32_t narrow(std::uint64_t side) {
  return static_cast<std::uint32_t>(side);  // the wrapper has checked it
}

MatmulParams matmul_params(const NormalisedCall& call) {
  MatmulParams p;
  p.m = call.m, p.n = call.n, p.k = call.k, p.batch = call.batch;
  p.a = call.call.inputs[0], p.b = call.call.inputs[1], p.c = call.call.results[0];
  if (call.row->family == Family::kBatched || call.row->family == Family::kQuant) {
    p.stride_a = stored_elements(call.layout_a, call.type, call.m, call.k);
    p.stride_b = stored_elements(call.layout_b, call.type, call.k, call.n);
    p.stride_c = std::uint64_t{call.m} * call.n;
  }
  return p;
}
MatmulParams with_bias(MatmulParams p, std::uint64_t bias) {
  p.bias = bias;
  return p;
}

GroupedMatmulParams grouped_params(const NormalisedCall& call) {
  GroupedMatmulParams p;
  p.whole = matmul_params(call);
  p.whole.batch = 1;
  p.groups = call.batch;
  p.group_ends = call.call.inputs[2];
  if (call.call.slice_k) {
    p.slice = GroupSlice::kK;
    p.whole.stride_c = std::uint64_t{call.m} * call.n;
  } else {
    p.whole.stride_b = stored_elements(call.layout_b, call.type, call.k, call.n);
  }
  p.whole.bias = call.call.inputs[3];
  if (p.whole.bias != 0) p.whole.stride_bias = call.n;
  return p;
}

QuantMatmulParams quant_params(const NormalisedCall& call) {
  QuantMatmulParams p;
  p.product = with_bias(matmul_params(call), call.call.inputs[4]);
  p.scale = call.call.scale;
  p.channel_scales = call.call.inputs[2];
  p.token_scales = call.call.inputs[3];
  return p;
}

GemvParams gemv_params(const NormalisedCall& call) {
  GemvParams p;
  p.m = narrow(call.sides[0]), p.k = narrow(call.sides[1]);
  p.a = call.call.inputs[0], p.x = call.call.inputs[1], p.y = call.call.results[0];
  return p;
}

VectorParams vector_params(const NormalisedCall& call) {
  VectorParams p;
  p.count = call.sides[0];
  p.to = call.call.results[0];
  std::copy_n(call.call.inputs.begin(), std::size(p.inputs), p.inputs);
  std::copy(call.call.scalars.begin(), call.call.scalars.end(), p.scalars);
  return p;
}

SoftmaxParams softmax_params(const NormalisedCall& call) {
  SoftmaxParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  return p;
}

RmsNormParams rms_norm_params(const NormalisedCall& call) {
  RmsNormParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.from = call.call.inputs[0], p.gamma = call.call.inputs[1], p.to = call.call.results[0];
  p.epsilon = call.call.epsilon;
  return p;
}

SwiGluParams swi_glu_params(const NormalisedCall& call) {
  SwiGluParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1] / 2);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  return p;
}

DynamicQuantParams dynamic_quant_params(const NormalisedCall& call) {
  DynamicQuantParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.from = call.call.inputs[0], p.to = call.call.results[0], p.scales = call.call.results[1];
  return p;
}

// Without quantisation there is no third result.
AddRmsNormParams add_rms_norm_params(const NormalisedCall& call) {
  AddRmsNormParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.x1 = call.call.inputs[0], p.x2 = call.call.inputs[1], p.gamma = call.call.inputs[2];
  p.to = call.call.results[0], p.sum = call.call.results[1], p.scales = call.call.results[2];
  p.epsilon = call.call.epsilon;
  return p;
}

DequantSwigluQuantParams dequant_swiglu_quant_params(const NormalisedCall& call) {
  DequantSwigluQuantParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1] / 2);
  p.from = call.call.inputs[0], p.to = call.call.results[0], p.scales = call.call.results[1];
  p.weight_scales = call.call.inputs[1], p.activation_scales = call.call.inputs[2];
  p.quant_scales = call.call.inputs[3];
  p.activate_left = call.call.activate_left ? 1 : 0;
  return p;
}

AttentionParams attention_params(const NormalisedCall& call) {
  AttentionParams p;
  p.batch = narrow(call.sides[0]), p.heads = narrow(call.sides[1]);
  p.kv_heads = narrow(call.sides[2]), p.queries = narrow(call.sides[3]);
  p.keys = narrow(call.sides[4]), p.head = narrow(call.sides[5]);
  p.q = call.call.inputs[0], p.k = call.call.inputs[1], p.v = call.call.inputs[2];
  p.to = call.call.results[0];
  p.table = call.call.inputs[3], p.page = call.call.page, p.pages = call.call.pages;
  p.heads_inside = call.call.heads_inside ? 1 : 0;
  p.whole_mask = call.call.whole_mask ? 1 : 0;
  p.scale = call.call.scale;
  if (call.call.masked) p.mask = call.call.inputs[4], p.mask_pitch = call.call.mask_pitch;
  return p;
}

BroadcastParams broadcast_params(const NormalisedCall& call) {
  BroadcastParams p;
  p.axes = narrow(call.sides.size());
  p.a_repeats = repeated_axes(call.call.shape, call.sides);
  p.b_repeats = repeated_axes(call.call.other_shape, call.sides);
  p.c_repeats = repeated_axes(call.call.condition_shape, call.sides);
  std::copy(call.sides.begin(), call.sides.end(), p.sides);
  p.a = call.call.inputs[0], p.b = call.call.inputs[1], p.c = call.call.inputs[2];
  p.to = call.call.results[0];
  std::copy(call.call.scalars.begin(), call.call.scalars.end(), p.scalars);
  return p;
}

TransposeParams transpose_params(const NormalisedCall& call) {
  TransposeParams p;
  p.axes = narrow(call.sides.size());
  std::copy(call.sides.begin(), call.sides.end(), p.sides);
  std::transform(call.call.order.begin(), call.call.order.end(), p.order, narrow);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  return p;
}

SoftmaxAxisParams softmax_axis_params(const NormalisedCall& call) {
  SoftmaxAxisParams p;
  p.outer = narrow(call.sides[0]), p.axis = narrow(call.sides[1]), p.inner = narrow(call.sides[2]);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  return p;
}

GroupNormParams group_norm_params(const NormalisedCall& call) {
  GroupNormParams p;
  p.batch = narrow(call.sides[0]), p.channels = narrow(call.sides[1]);
  p.size = narrow(call.sides[2]), p.groups = narrow(call.sides[3]);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  p.gamma = call.call.inputs[1], p.beta = call.call.inputs[2];
  p.epsilon = call.call.epsilon;
  return p;
}

LayerNormParams layer_norm_params(const NormalisedCall& call) {
  LayerNormParams p;
  p.rows = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.from = call.call.inputs[0], p.to = call.call.results[0];
  p.gamma = call.call.inputs[1], p.beta = call.call.inputs[2];
  p.epsilon = call.call.epsilon;
  return p;
}

IndexedRowsParams indexed_params(const NormalisedCall& call) {
  const bool writes = call.row->family == Family::kCacheWrite;
  IndexedRowsParams p;
  p.count = narrow(call.sides[0]), p.columns = narrow(call.sides[1]);
  p.table_rows = narrow(call.sides[2]);
  p.table = call.call.inputs[0], p.indices = call.call.inputs[1];
  p.rows = writes ? call.call.inputs[2] : call.call.results[0];
  return p;
}

AdamWParams adam_w_params(const NormalisedCall& call) {
  const auto& in = call.call.inputs;
  AdamWParams p;
  p.count = call.sides[0];
  p.variable = in[0], p.m = in[1], p.v = in[2], p.gradient = in[3];
  p.beta1_power = in[4], p.beta2_power = in[5], p.rate = in[6], p.decay = in[7];
  p.beta1 = in[8], p.beta2 = in[9], p.epsilon = in[10];
  p.maximize = call.call.maximize ? 1 : 0;
  return p;
}

TensorParams tensor_params(const NormalisedCall& call) {
  TensorParams p;
  std::copy(call.sides.begin(), call.sides.end(), p.sides);
  std::copy_n(call.call.inputs.begin(), std::size(p.inputs), p.inputs);
  std::copy_n(call.call.results.begin(), std::size(p.results), p.results);
  p.tile = call.call.tile, p.sets = call.call.sets;
  p.epsilon = call.call.epsilon, p.scale = call.call.scale;
  p.value = call.call.scalars[0];
  p.given = narrow(call.sides.size());
  return p;
}

// The compile-time parameters; those that a template does not read are not part of its key.
jit::Macros macros_of(const NormalisedCall& call) {
  const std::string type(macro_name(call.type));
  jit::Macros macros{{"NPU_JIT_KERNEL_NAME", call.row->name},
                     {"NPU_JIT_ELEMENT_A", type},
                     {"NPU_JIT_ELEMENT_C", std::string(macro_name(call.out_type))}};
  macros.insert(call.row->macros.begin(), call.row->macros.end());
  switch (call.row->family) {
    case Family::kMatmul:
    case Family::kBatched:
    case Family::kGrouped:
    case Family::kSplitK:
    case Family::kQuant:
      macros["NPU_JIT_ELEMENT_B"] = type;
      if (!call.call.bias_dtype.empty()) {
        macros["NPU_JIT_ELEMENT_BIAS"] = std::string(macro_name(call.bias_type));
      }
      macros["NPU_JIT_LAYOUT_A"] = call.layout_a;
      macros["NPU_JIT_LAYOUT_B"] = call.layout_b;
      break;
    case Family::kGemv:
      macros["NPU_JIT_LAYOUT_A"] = call.layout_a;
      break;
    case Family::kVector:
    case Family::kBroadcast:
      macros["NPU_JIT_EXPRESSION"] = call.call.expression;
      break;
    case Family::kAttention:
      macros["NPU_JIT_CAUSAL"] = call.call.causal ? "1" : "0";
      if (call.call.masked) macros["NPU_JIT_MASK"] = "1";
      break;
    case Family::kTensors:
    case Family::kSoftmax:
    case Family::kRmsNorm:
    case Family::kSwiGlu:
    case Family::kDynamicQuant:
    case Family::kAddRmsNorm:
    case Family::kAddRmsNormDynamicQuant:
    case Family::kDequantSwigluQuant:
    case Family::kTranspose:
    case Family::kSoftmaxAxis:
    case Family::kGroupNorm:
    case Family::kAdamW:
    case Family::kLayerNorm:
    case Family::kGather:
    case Family::kCacheWrite:
      break;
  }
  return macros;
}

// Of operators that are no products.
void bind_others(const NormalisedCall& call, Binding& binding) {
  switch (call.row->family) {
    case Family::kVector:
      binding.params = vector_params(call);
      break;
    case Family::kSoftmax:
      binding.params = softmax_params(call);
      break;
    case Family::kRmsNorm:
      binding.params = rms_norm_params(call);
      break;
    case Family::kSwiGlu:
      binding.params = swi_glu_params(call);
      break;
    case Family::kDynamicQuant:
      binding.params = dynamic_quant_params(call);
      break;
    case Family::kAddRmsNorm:
    case Family::kAddRmsNormDynamicQuant:
      binding.params = add_rms_norm_params(call);
      break;
    case Family::kDequantSwigluQuant:
      binding.params = dequant_swiglu_quant_params(call);
      break;
    case Family::kAttention:
      binding.params = attention_params(call);
      break;
    case Family::kBroadcast:
      binding.params = broadcast_params(call);
      break;
    case Family::kTranspose:
      binding.params = transpose_params(call);
      break;
    case Family::kSoftmaxAxis:
      binding.params = softmax_axis_params(call);
      break;
    case Family::kGroupNorm:
      binding.params = group_norm_params(call);
      break;
    case Family::kAdamW:
      binding.params = adam_w_params(call);
      break;
    case Family::kLayerNorm:
      binding.params = layer_norm_params(call);
      break;
    case Family::kGather:
    case Family::kCacheWrite:
      binding.params = indexed_params(call);
      break;
    case Family::kTensors:
      binding.params = tensor_params(call);
      break;
    default:
      break;
  }
}

}  // namespace

Binding bind(const NormalisedCall& call) {
  Binding binding;
  binding.request = {call.row->file, macros_of(call), call.row->type};
  binding.request.folder = call.row->folder;
  switch (call.row->family) {
    case Family::kMatmul:
    case Family::kBatched:
      binding.params = with_bias(matmul_params(call), call.call.inputs[2]);
      break;
    case Family::kGrouped:
      binding.params = grouped_params(call);
      break;
    case Family::kSplitK:
      binding.params =
          SplitKMatmulParams{with_bias(matmul_params(call), call.call.inputs[2]), call.call.splits};
      break;
    case Family::kQuant:
      binding.params = quant_params(call);
      break;
    case Family::kGemv:
      binding.params = gemv_params(call);
      break;
    default:
      bind_others(call, binding);
  }
  return binding;
}

}  // namespace npu::operators
