#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ascendc_test.sh PREFIX SOURCES: kernels in AscendC, compiled by the installed `npusim cc` in an
# empty folder, give right results under `npusim exec`; what is wrong is said in a line.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2; cat errors output 2> /dev/null || true' ERR
prefix=$1
sources=$2/ascendc
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npusim=$prefix/bin/npusim
library=$(dirname "$(find "$prefix" -name libascendcl.so | head -n 1)")
for name in adds products; do
  c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -I"$sources" "$sources/${name}_main.cpp" \
    -L"$library" -lascendcl -o "$name"
done

# What it makes, where, and what it says of it.
"$npusim" cc "$sources/adds.cpp" > output
[[ $(sed 's/[0-9]\+ bytes/N bytes/' output) == "add_half: aiv, N bytes, in adds.o
add_float: aiv, N bytes, in adds.o
add_int: aiv, N bytes, in adds.o" ]]
"$npusim" cc "$sources/vectors.cpp" -o vectors.o > output
"$npusim" cc "$sources/products.cpp" -I . -D UNUSED=1 > output
grep '^product_half: aic, ' output > /dev/null
"$npusim" cc "$sources/mixed.cpp" --host -I "$prefix/include" > output
[[ $(sed 's/, [0-9]* bytes.*//' output | sort) == "numbers: aiv
numbers_1: aiv
relu_product: mix" ]]
c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" -I"$sources" "$sources/mixed_main.cpp" mixed.o \
  -L"$library" -lascendcl -o mixed
# The same source, the same bytes.
"$npusim" cc "$sources/adds.cpp" --output again.o > output
cmp adds.o again.o
head -c 10000 adds.o > torn.o

run() { "$npusim" --config 910b2 exec --set core.hazards=report --report "$1" -- "${@:2}" > output 2> errors; }
hazards() { # REPORT: how many it has
  python3 -c '
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
print(sum(len(t["rows"]) for t in tables if t["title"] == "hazards of programs of AI Cores"))' "$1"
}
for name in adds products mixed; do
  run "$name.json" "./$name"
  grep '^right$' output > /dev/null
  [[ $(hazards "$name.json") == 0 ]]
done
run products.json ./products
run adds.json ./adds
grep 'no kernel add_double, the binary has add_half, add_float, add_int' output > /dev/null

# A wait too few is found, and the line that it is missing in front of.
"$npusim" cc "$sources/vectors.cpp" -o vectors.o -D NO_WAIT > output
run hazards.json ./adds || true
[[ $(hazards hazards.json) != 0 ]]
line=$(grep -n 'Relu(a, a' "$sources/vectors.cpp" | cut -d: -f1)
grep "V relu at vectors.cpp:$line (chain, .* overwrites what MTE2 gm_to_ub at vectors.cpp:" hazards.json > /dev/null

# A queue has no second tensor.
cat > trap.cpp << 'END'
#include "kernel_operator.h"
using namespace AscendC;
__global__ __vector__ void trap(GM_ADDR x) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> queue;
  pipe.InitBuffer(queue, 1, 64);
  for (int i = 0; i < 2; ++i) queue.AllocTensor<half>();
}
int multiply(uint32_t, void* stream, void* a, void*, void*, uint16_t) { return trap<<<1, nullptr, stream>>>(a); }
int number(void*, int32_t*, int, int32_t) { return 0; }
END
"$npusim" cc trap.cpp --host -I "$prefix/include" > output
c++ -std=c++17 -I"$prefix/include" -I"$sources" "$sources/mixed_main.cpp" trap.o -L"$library" -lascendcl -o trap
run trapped.json ./trap && exit 1
grep 'kernel trap, block 0, core [0-9]*, scalar unit, code 42433' errors > /dev/null

wrong() { # WHAT, WORDS...: one line, exit code 2
  local code=0
  "$npusim" cc "${@:2}" > output 2> errors || code=$?
  [[ $code == 2 && $(wc -l < errors) == 1 ]]
  grep "$1" errors > /dev/null
}
wrong 'none.cpp: no such file' none.cpp
wrong 'cc: which file' 
wrong 'which file' a.cpp b.cpp
echo '#include "kernel_operator.h"' > empty.cpp
wrong 'empty.cpp: no kernel' empty.cpp
printf '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {\n  x.y();\n}\n' > bad.cpp
wrong 'bad.cpp:3: .*error: ' bad.cpp
printf '#include "none.h"\n' > missing.cpp
wrong 'missing.cpp:1: .*none.h' missing.cpp
printf '#include "kernel_operator.h"\n__gm__ int x[4];\n' > array.cpp
wrong 'array.cpp:2: __gm__ of no pointer' array.cpp
printf '#include "kernel_operator.h"\n\nvoid f() { k<2><<<1, 0, 0>>>(); }\n' > launch.cpp
wrong 'launch.cpp:3: no kernel k in front of <<<' launch.cpp
wrong 'kernel-type' "$sources/adds.cpp" --kernel-type gpu
# Cores of the wrong kind have no such unit.
"$npusim" cc "$sources/products.cpp" --kernel-type aiv > output
grep '^product_half: aiv, ' output > /dev/null
run faulted.json ./products && exit 1
grep 'invalid instruction, block [0-9]*, core [0-9]*, MTE2 instruction 1, to: offset 0x0 in L1' errors > /dev/null
