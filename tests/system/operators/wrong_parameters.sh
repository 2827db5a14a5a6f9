#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wrong_parameters.sh COMPILER SOURCE: macros of operators that cannot be. The compiler's first error
# names the macro and says what is possible.
set -euo pipefail
compiler=$1 source=$2
failed=0

# told TEMPLATE TEXT MACROS...
told() {
  local template=$1 text=$2 first
  shift 2
  first=$("$compiler" -std=c++17 -fsyntax-only -I"$source/include" -I"$source" "${@/#/-DNPU_JIT_}" \
    "$source/kernels/device/operators/$template.cpp" 2>&1 | grep -m1 error || true)
  if [[ $first != *"$text"* ]]; then
    echo "$template $*: expected '$text', found '$first'"
    failed=1
  fi
}
matmul=(ELEMENT_A=half ELEMENT_B=half ELEMENT_C=half LAYOUT_A=RowMajor LAYOUT_B=RowMajor)
int8=(ELEMENT_A=int8 ELEMENT_B=int8 LAYOUT_A=RowMajor LAYOUT_B=RowMajor)

told basic_matmul 'NPU_JIT_ELEMENT_A must be half, bfloat16, float, int8, int32 or int64'
told basic_matmul 'NPU_JIT_ELEMENT_A must be half' "${matmul[@]}" ELEMENT_A=double
told basic_matmul 'NPU_JIT_LAYOUT_B must be RowMajor, ColumnMajor, zN or nZ' "${matmul[@]}" LAYOUT_B=NZ
told basic_matmul 'must be one type' "${matmul[@]}" ELEMENT_B=float
told basic_matmul 'the cube multiplies half, bfloat16, float and int8' "${matmul[@]}" ELEMENT_A=int64 ELEMENT_B=int64
told basic_matmul 'a product of reals is half, bfloat16 or float' "${matmul[@]}" ELEMENT_C=int32
told basic_matmul 'a product of int8 is int32, float or half' "${int8[@]}" ELEMENT_C=int8
told basic_matmul 'multiples of 32' "${matmul[@]}" L1_M=17
for template in basic_matmul grouped_matmul splitk_matmul; do
  told $template 'a bias of reals is float or half, of int8 int32' "${matmul[@]}" ELEMENT_BIAS=bfloat16
done
told quant_matmul "a quantised product's bias is int32" "${int8[@]}" ELEMENT_C=half ELEMENT_BIAS=int64
told splitk_matmul 'no unit converts to int64' "${int8[@]}" ELEMENT_C=int64
told quant_matmul 'a quantised product is one of int8' "${matmul[@]}"
told quant_matmul 'a quantised product becomes half, bfloat16 or float' "${int8[@]}" ELEMENT_C=int32
told gemv 'does not multiply int64' ELEMENT_A=int64 ELEMENT_C=int64 LAYOUT_A=RowMajor
told gemv 'of integers int32' ELEMENT_A=int8 ELEMENT_C=float LAYOUT_A=RowMajor
told softmax 'this operator is of reals' ELEMENT_A=int32 ELEMENT_C=int32
told swi_glu 'this operator is of reals' ELEMENT_A=int8 ELEMENT_C=int8
told dynamic_quant 'from half, bfloat16 or float' ELEMENT_A=half ELEMENT_C=half
told add_rms_norm 'of these or int8' ELEMENT_A=half ELEMENT_C=int32
told dequant_swiglu_quant 'float or int32' ELEMENT_A=int64 ELEMENT_C=int8
told flash_attention 'attention is of reals' ELEMENT_A=int8 ELEMENT_C=half
told flash_attention 'NPU_JIT_CAUSAL must be 0 or 1' ELEMENT_A=half ELEMENT_C=half CAUSAL=2
told transpose 'keeps its type' ELEMENT_A=half ELEMENT_C=float
told apply_adam_w 'one of half, bfloat16 and float' ELEMENT_A=half ELEMENT_C=float
told group_norm 'this operator is of reals' ELEMENT_A=int8 ELEMENT_C=int8
told softmax_axis 'this operator is of reals' ELEMENT_A=int32 ELEMENT_C=int32
told layer_norm 'this operator is of reals' ELEMENT_A=int32 ELEMENT_C=int32
told indexed_rows 'NPU_JIT_SCATTER must be 0 or 1' ELEMENT_A=half ELEMENT_C=half
told broadcast 'are a, b and c' ELEMENT_A=half ELEMENT_C=half EXPRESSION=a+d
told elementwise 'NPU_JIT_EXPRESSION must be' ELEMENT_A=half ELEMENT_C=half
told elementwise 'half, bfloat16 and float only' ELEMENT_A=int32 ELEMENT_C=int32 'EXPRESSION=exp(a)'
told elementwise 'of int64 it has max and min' ELEMENT_A=int64 ELEMENT_C=int64 'EXPRESSION=a+b'
told elementwise 'does not compare int64' ELEMENT_A=int64 ELEMENT_C=int64 'EXPRESSION=where(a<b,a,b)'
told elementwise 'int64 is converted to and from nothing' ELEMENT_A=int64 ELEMENT_C=float EXPRESSION=a
told select_rows 'NPU_JIT_SMALLEST must be 0 or 1' ELEMENT_A=half ELEMENT_C=half VALUES=1
told select_rows 'NPU_JIT_VALUES must be 0 or 1' ELEMENT_A=half ELEMENT_C=half SMALLEST=1
told select_rows 'does not compare int64' ELEMENT_A=int64 ELEMENT_C=int64 SMALLEST=1 VALUES=1
told select_rows 'or int32 of places alone' ELEMENT_A=half ELEMENT_C=half SMALLEST=1 VALUES=0
told reduce 'NPU_JIT_REDUCTION must be' ELEMENT_A=half ELEMENT_C=half
told reduce 'must both be' ELEMENT_A=half ELEMENT_C=int32 REDUCTION=sum
told reduce 'a mean is of reals' ELEMENT_A=int8 ELEMENT_C=int32 REDUCTION=mean
told rope 'NPU_JIT_INTERLEAVED must be 0 or 1' ELEMENT_A=half ELEMENT_C=half
told rope 'this operator is of reals' ELEMENT_A=int8 ELEMENT_C=int8 INTERLEAVED=1
told parts 'NPU_JIT_PARTS must be 0, 1 or 2' ELEMENT_A=half ELEMENT_C=half
told parts 'keeps its type' ELEMENT_A=half ELEMENT_C=float PARTS=0
told copy 'a copy converts nothing' ELEMENT_A=half ELEMENT_C=float
told hadamard 'of half or float' ELEMENT_A=bfloat16 ELEMENT_C=bfloat16
told causal_conv1d 'this operator is of reals' ELEMENT_A=int8 ELEMENT_C=int8
told rms_norm_cast 'what is widened is half or bfloat16' ELEMENT_A=float ELEMENT_C=float
told chunk_cumsum 'sums of gates are float' ELEMENT_A=half ELEMENT_C=half
told chunk_o 'chunks are of half or bfloat16' ELEMENT_A=float ELEMENT_C=float
told mhc_post 'streams are mixed in float' ELEMENT_A=half ELEMENT_C=half
told moe_gating_top_k 'NPU_JIT_SIGMOID must be 0 or 1' ELEMENT_A=half ELEMENT_C=float
told moe_gating_top_k 'weights are float' ELEMENT_A=half ELEMENT_C=half SIGMOID=0
told moe_init_routing 'keeps its type' ELEMENT_A=half ELEMENT_C=float
told moe_finalize_routing 'this operator is of reals' ELEMENT_A=int8 ELEMENT_C=int8
told mx_matmul 'elements are told in bytes' ELEMENT_A=half ELEMENT_C=half
exit $failed
