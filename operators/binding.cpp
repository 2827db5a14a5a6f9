// SPDX-License-Identifier: Apache-2.0
#include "operators/binding.hpp"

#include "operators/matrix_layout.hpp"

namespace npu::operators {
namespace {

MatmulParams matmul_params(const NormalisedCall& call) {
  MatmulParams p;
  p.m = call.m, p.n = call.n, p.k = call.k, p.batch = call.batch;
  p.a = call.a, p.b = call.b, p.c = call.c;
  if (call.row->family == Family::kBatched) {
    p.stride_a = stored_elements(call.layout_a, call.type, call.m, call.k);
    p.stride_b = stored_elements(call.layout_b, call.type, call.k, call.n);
    p.stride_c = std::uint64_t{call.m} * call.n;
  }
  return p;
}

// The compile-time parameters.
jit::Macros macros_of(const NormalisedCall& call) {
  const std::string type(macro_name(call.type));
  return {{"NPU_JIT_KERNEL_NAME", std::string(call.row->name)},
          {"NPU_JIT_ELEMENT_A", type},
          {"NPU_JIT_ELEMENT_B", type},
          {"NPU_JIT_ELEMENT_C", std::string(macro_name(call.out_type))},
          {"NPU_JIT_LAYOUT_A", call.layout_a},
          {"NPU_JIT_LAYOUT_B", call.layout_b}};
}

}  // namespace

Binding bind(const NormalisedCall& call) {
  Binding binding;
  binding.request = {std::string(call.row->file), macros_of(call), call.row->type};
  if (call.row->family == Family::kSplitK) {
    binding.params = SplitKMatmulParams{matmul_params(call), call.splits};
  } else {
    binding.params = matmul_params(call);
  }
  return binding;
}

}  // namespace npu::operators
