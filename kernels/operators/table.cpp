// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

struct TypeName {
  std::string_view text;
  DataType type;
};

// The macros' own names first.
constexpr TypeName kTypeNames[] = {
    {"half", DataType::kFp16},    {"bfloat16", DataType::kBf16}, {"float", DataType::kFp32},
    {"int8", DataType::kInt8},    {"int32", DataType::kInt32},   {"int64", DataType::kInt64},
    {"float16", DataType::kFp16}, {"fp16", DataType::kFp16},     {"f16", DataType::kFp16},
    {"bf16", DataType::kBf16},    {"float32", DataType::kFp32},  {"fp32", DataType::kFp32},
    {"f32", DataType::kFp32},     {"i8", DataType::kInt8},       {"i32", DataType::kInt32},
    {"i64", DataType::kInt64},
};

using jit::KernelType;

// An expression of every element; b is repeated along axes.
constexpr OperatorRow unary(std::string_view name, std::string_view expression,
                            std::string_view out = "") {
  return {name,
          Family::kVector,
          "elementwise.cpp",
          KernelType::kVector,
          "count",
          "a",
          "result",
          expression,
          "",
          out};
}
constexpr OperatorRow binary(std::string_view name, std::string_view expression,
                             std::string_view out = "") {
  return {name,
          Family::kBroadcast,
          "broadcast.cpp",
          KernelType::kVector,
          "sides",
          "a, b",
          "result",
          expression,
          "",
          out};
}
// What npu/operators/tensor_params.hpp says of it.
constexpr OperatorRow tensors(std::string_view name, std::string_view file, std::string_view shape,
                              std::string_view inputs, std::string_view results,
                              std::string_view macros, std::string_view out = "") {
  return {name, Family::kTensors, file, KernelType::kVector, shape, inputs, results,
          "",   macros,           out};
}

constexpr OperatorRow kRows[] = {
    {"basic_matmul", Family::kMatmul, "basic_matmul.cpp", KernelType::kCube, "m, n, k",
     "A, B, bias"},
    {"batched_matmul", Family::kBatched, "batched_matmul.cpp", KernelType::kCube, "batch, m, n, k",
     "A, B, bias"},
    {"grouped_matmul", Family::kGrouped, "grouped_matmul.cpp", KernelType::kMixed,
     "groups, m, n, k", "A, B, group ends, bias"},
    {"splitk_matmul", Family::kSplitK, "splitk_matmul.cpp", KernelType::kMixed, "m, n, k",
     "A, B, bias"},
    {"quant_matmul", Family::kQuant, "quant_matmul.cpp", KernelType::kMixed, "[batch,] m, n, k",
     "A, B, channel scales, token scales, bias"},
    {"gemv", Family::kGemv, "gemv.cpp", KernelType::kVector, "m, k", "A, x"},
    {"elementwise", Family::kVector, "elementwise.cpp", KernelType::kVector, "count", "a, b, c, d"},
    {"softmax", Family::kSoftmax, "softmax.cpp", KernelType::kVector, "rows, columns", "x"},
    {"rms_norm", Family::kRmsNorm, "rms_norm.cpp", KernelType::kVector, "rows, columns",
     "x, gamma"},
    {"swi_glu", Family::kSwiGlu, "swi_glu.cpp", KernelType::kVector, "rows, columns", "x"},
    {"dynamic_quant", Family::kDynamicQuant, "dynamic_quant.cpp", KernelType::kVector,
     "rows, columns", "x", "result, scales"},
    {"add_rms_norm", Family::kAddRmsNorm, "add_rms_norm.cpp", KernelType::kVector, "rows, columns",
     "x1, x2, gamma", "result, sum"},
    {"add_rms_norm_dynamic_quant", Family::kAddRmsNormDynamicQuant, "add_rms_norm.cpp",
     KernelType::kVector, "rows, columns", "x1, x2, gamma", "result, sum, scales"},
    {"dequant_swiglu_quant", Family::kDequantSwigluQuant, "dequant_swiglu_quant.cpp",
     KernelType::kVector, "rows, columns", "x, weight scales, activation scales, quant scales",
     "result, scales"},
    {"flash_attention", Family::kAttention, "flash_attention.cpp", KernelType::kMixed,
     "batch, heads, kv_heads, queries, keys, head", "q, k, v"},
    {"broadcast", Family::kBroadcast, "broadcast.cpp", KernelType::kVector, "sides", "a, b"},
    {"transpose", Family::kTranspose, "transpose.cpp", KernelType::kVector, "sides", "x"},
    {"softmax_axis", Family::kSoftmaxAxis, "softmax_axis.cpp", KernelType::kVector,
     "outer, axis, inner", "x"},
    {"group_norm", Family::kGroupNorm, "group_norm.cpp", KernelType::kVector,
     "batch, channels, size, groups", "x, gamma, beta"},
    {"apply_adam_w", Family::kAdamW, "apply_adam_w.cpp", KernelType::kVector, "count",
     "variable, m, v, gradient, beta1 power, beta2 power, rate, decay, beta1, beta2, epsilon",
     "variable, m, v"},
    {"layer_norm", Family::kLayerNorm, "layer_norm.cpp", KernelType::kVector, "rows, columns",
     "x, gamma, beta"},
    {"gather", Family::kGather, "indexed_rows.cpp", KernelType::kVector,
     "rows, columns, table_rows", "table, indices", "result", "", "SCATTER=0"},
    {"kv_cache_write", Family::kCacheWrite, "indexed_rows.cpp", KernelType::kVector,
     "rows, columns, table_rows", "table, indices, rows", "table", "", "SCATTER=1"},
    {"copy", Family::kTensors, "copy.cpp", KernelType::kVector, "count", "x"},
    {"hadamard", Family::kTensors, "hadamard.cpp", KernelType::kVector, "rows, columns", "x"},
    {"causal_conv1d", Family::kTensors, "causal_conv1d.cpp", KernelType::kVector,
     "batch, length, channels, width", "x, weights, bias"},
    {"rms_norm_cast", Family::kTensors, "rms_norm_cast.cpp", KernelType::kVector, "rows, columns",
     "x, gamma", "result, wide"},
    {"chunk_cumsum", Family::kTensors, "chunk_cumsum.cpp", KernelType::kVector,
     "tokens, heads, chunk", "g"},
    {"scaled_dot_kkt", Family::kTensors, "scaled_dot_kkt.cpp", KernelType::kMixed,
     "tokens, kv_heads, heads, head, chunk", "k, beta, g"},
    {"solve_tril", Family::kTensors, "solve_tril.cpp", KernelType::kMixed, "tokens, heads, chunk",
     "A"},
    {"wy_fast", Family::kTensors, "wy_fast.cpp", KernelType::kMixed,
     "tokens, kv_heads, heads, head, chunk", "k, v, A, beta, g", "w, u"},
    {"chunk_o", Family::kTensors, "chunk_o.cpp", KernelType::kMixed,
     "tokens, kv_heads, heads, head, chunk", "q, k, v, S, g"},
    {"mhc_post", Family::kTensors, "mhc_post.cpp", KernelType::kVector, "tokens, streams, columns",
     "x, mix, y, gates"},
    {"mhc_res", Family::kTensors, "mhc_post.cpp", KernelType::kVector, "tokens, streams, columns",
     "x, mix"},
    {"mxfp8_matmul", Family::kTensors, "mx_matmul.cpp", KernelType::kCube, "m, n, k",
     "A, B, A scales, B scales"},
    {"mxfp4_matmul", Family::kTensors, "mx_matmul.cpp", KernelType::kCube, "m, n, k",
     "A, B, A scales, B scales"},
    tensors("argmax", "select_rows.cpp", "rows, columns", "x", "indices", "SMALLEST=0,VALUES=0",
            "int32"),
    tensors("argmin", "select_rows.cpp", "rows, columns", "x", "indices", "SMALLEST=1,VALUES=0",
            "int32"),
    tensors("top_k", "select_rows.cpp", "rows, columns, k", "x", "values, indices",
            "SMALLEST=0,VALUES=1"),
    tensors("bottom_k", "select_rows.cpp", "rows, columns, k", "x", "values, indices",
            "SMALLEST=1,VALUES=1"),
    tensors("reduce_sum", "reduce.cpp", "outer, axis, inner", "x", "result", "REDUCTION=sum"),
    tensors("reduce_mean", "reduce.cpp", "outer, axis, inner", "x", "result", "REDUCTION=mean"),
    tensors("reduce_max", "reduce.cpp", "outer, axis, inner", "x", "result", "REDUCTION=max"),
    tensors("reduce_min", "reduce.cpp", "outer, axis, inner", "x", "result", "REDUCTION=min"),
    tensors("reduce_prod", "reduce.cpp", "outer, axis, inner", "x", "result", "REDUCTION=prod"),
    tensors("rope_half", "rope.cpp", "tokens, heads, head", "x, cos, sin", "result",
            "INTERLEAVED=0"),
    tensors("rope_interleaved", "rope.cpp", "tokens, heads, head", "x, cos, sin", "result",
            "INTERLEAVED=1"),
    {"where", Family::kBroadcast, "broadcast.cpp", KernelType::kVector, "sides", "a, b, condition",
     "result", "where(c!=0,a,b)"},
    unary("cast", "a"),
    unary("cast_floor", "floor(a)"),
    unary("cast_ceil", "ceil(a)"),
    unary("cast_trunc", "trunc(a)"),
    unary("cast_round", "round(a)"),
    tensors("concat", "parts.cpp", "outer, inner, axis...", "parts", "result", "PARTS=0"),
    tensors("slice", "parts.cpp", "outer, axis, inner, begin, count, step", "x", "result",
            "PARTS=1"),
    tensors("pad", "parts.cpp", "outer, axis, inner, before, behind", "x", "result", "PARTS=2"),
    {"embedding", Family::kGather, "indexed_rows.cpp", KernelType::kVector,
     "rows, columns, table_rows", "table, indices", "result", "", "SCATTER=0"},
    unary("clip", "min(max(a,s),s1)"),
    unary("relu", "relu(a)"),
    unary("leaky_relu", "where(a<0,a*s,a)"),
    unary("erf", "erf(a)"),
    unary("sqrt", "sqrt(a)"),
    unary("reciprocal", "reciprocal(a)"),
    unary("logical_not", "where(a==0,1,0)", "int8"),
    binary("pow", "pow(a,b)"),
    binary("equal", "where(a==b,1,0)", "int8"),
    binary("not_equal", "where(a!=b,1,0)", "int8"),
    binary("greater", "where(a>b,1,0)", "int8"),
    binary("greater_equal", "where(a>=b,1,0)", "int8"),
    binary("less", "where(a<b,1,0)", "int8"),
    binary("less_equal", "where(a<=b,1,0)", "int8"),
    binary("logical_and", "where(a!=0,where(b!=0,1,0),0)", "int8"),
    binary("logical_or", "where(a!=0,1,where(b!=0,1,0))", "int8"),
};

}  // namespace

const std::vector<OperatorRow>& operator_table() {
  static const std::vector<OperatorRow> kTable(std::begin(kRows), std::end(kRows));
  return kTable;
}

Result<const OperatorRow*> find_operator(std::string_view name) {
  std::string known;
  for (const auto& row : operator_table()) {
    if (row.name == name) return &row;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no operator \"{}\"; there are {}", shortened(name), known));
}

std::string_view macro_name(DataType type) {
  const auto* found = std::find_if(std::begin(kTypeNames), std::end(kTypeNames),
                                   [&](const TypeName& row) { return row.type == type; });
  return found == std::end(kTypeNames) ? std::string_view() : found->text;
}

Result<DataType> parse_type(const std::string& text) {
  for (const auto& row : kTypeNames) {
    if (row.text == text) return row.type;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" is no element type: float16, bfloat16, float32, int8, int32 or "
                          "int64",
                          shortened(text)));
}

}  // namespace npu::operators
