// SPDX-License-Identifier: Apache-2.0
// The C++ operator: what is compiled for a call, and what the compiled host entry gets.
#pragma once

#include <variant>

#include "kernels/operators/call.hpp"
#include "npu/jit/kernel_cache.hpp"
#include "npu/operators/params.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::operators {

struct Binding {
  jit::KernelRequest request;
  std::variant<MatmulParams, GroupedMatmulParams, SplitKMatmulParams, QuantMatmulParams, GemvParams,
               VectorParams, SoftmaxParams, RmsNormParams, SwiGluParams, DynamicQuantParams,
               AddRmsNormParams, DequantSwigluQuantParams, AttentionParams, BroadcastParams,
               TransposeParams, SoftmaxAxisParams, GroupNormParams, AdamWParams, LayerNormParams,
               IndexedRowsParams, TensorParams>
      params;

  const void* params_address() const {
    return std::visit([](const auto& p) { return static_cast<const void*>(&p); }, params);
  }
};

Binding bind(const NormalisedCall& call);

}  // namespace npu::operators
