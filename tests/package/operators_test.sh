#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# operators_test.sh PREFIX COMPILER: every installed operator compiles from what is installed alone,
# without a warning, into an object with both entries that is no larger than its image may be.
source "$(dirname "$0")/../support/in_folder.sh"
prefix=$1 compiler=$2
root=$prefix/share/npusim/operators
templates=$root/kernels/device/operators
most=$(sed -n 's/.* kImageBytes = \([0-9]*\)_KiB;/\1 * 1024/p' "$prefix/include/npu/operators/operator_stream.hpp")
((most > 0))
for template in "$templates"/*.cpp; do
  name=$(basename "$template" .cpp)
  type=half result=half
  [[ $name == *_quant ]] && result=int8
  [[ $name == quant_matmul || $name == mx_matmul ]] && type=int8
  [[ $name == chunk_cumsum || $name == mhc_post ]] && type=float result=float
  [[ $name == moe_gating_top_k ]] && result=float
  "$compiler" -std=c++17 -O2 -shared -fPIC -fvisibility=hidden -Wall -Wextra -Werror \
    -I"$prefix/include" -I"$root" -DNPU_JIT_ELEMENT_A=$type -DNPU_JIT_ELEMENT_B=$type \
    -DNPU_JIT_ELEMENT_C=$result -DNPU_JIT_LAYOUT_A=ColumnMajor -DNPU_JIT_LAYOUT_B=zN \
    -DNPU_JIT_SCATTER=1 -DNPU_JIT_SMALLEST=1 -DNPU_JIT_VALUES=1 -DNPU_JIT_SIGMOID=1 \
    -DNPU_JIT_REDUCTION=max -DNPU_JIT_INTERLEAVED=1 -DNPU_JIT_PARTS=2 '-DNPU_JIT_EXPRESSION=gelu(max(a,b)*s)' "-DNPU_JIT_KERNEL_NAME=$name" \
    -x c++ "$template" -o "$name.so"
  for entry in run npu_aicore_main; do
    nm -D --defined-only "$name.so" | grep -w "$entry" > /dev/null
  done
  bytes=$(stat -c %s "$name.so")
  if ((bytes > most)); then
    echo "$name: $bytes B are more than an image's $most"
    exit 1
  fi
  echo "$name: $bytes B"
done
