#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_operators_test.sh PREFIX EXAMPLES PYTHON: operators of a folder outside are called from the
# command line, by the C API and from Python, with the installed package alone.
source "$(dirname "$0")/programs.sh"
python=$3
cp "$2"/* .
export NPUSIM_OPERATORS_PATH=$folder NPUSIM_JIT_CACHE_DIR=$folder/cache
npusim=$prefix/bin/npusim
in_one_line() { tr -s '\n ' ' '; }
"$npusim" operators swi_glu_quant | grep -Fx "  results  y [rows, columns / 2] int8, scales [rows] float32"
for config in 910b2 950pr; do
  for shape in 1,2 7,100 64,1024 333,34 0,16 3,0; do
    for name in rms_norm_plus_one swi_glu_quant; do
      "$npusim" --config $config run operator --set name=$name --set shape=$shape --set dtype=bfloat16 \
        --set cache=folder | in_one_line | grep -F "every element compared" > /dev/null
    done
  done
done
# A reference that says something else is noticed.
sed 's/(1 + inputs\[1\]\[i\])/(2 + inputs[1][i])/; s/rms_norm_plus_one/other/' rms_norm_plus_one.cpp > other.cpp
sed 's/rms_norm_plus_one/other/' rms_norm_plus_one.yaml > other.yaml
if "$npusim" --config 910b2 run operator --set name=other --set shape=4,32 > /dev/null 2> errors; then exit 1; fi
grep -F "element 0 of 128 is" errors > /dev/null
# One without a reference says so; a compiler's error names the file.
sed -i '/^NPU_REFERENCE/d; /^void reference/,/^}/d' other.cpp
"$npusim" --config 910b2 run operator --set name=other --set shape=4,32 | in_one_line |
  grep -F "not compared: the source has no NPU_REFERENCE" > /dev/null
sed -i 's/load_weight();/load_wait();/' other.cpp
code=0
"$npusim" --config 910b2 run operator --set name=other --set shape=4,32 > /dev/null 2> errors || code=$?
[[ $code == 2 ]] && grep "other.cpp:[0-9]*: error: .*load_wait" errors > /dev/null
rm other.*

c_program check.c check -std=c11 -lascendcl -lm
for config in 910b2 950pr; do
  "$npusim" --config $config exec --report $config.json -- ./check | grep -x right > /dev/null
  "$npusim" --config $config exec --report again.json -- ./check > /dev/null
  cmp $config.json again.json
done
PYTHONPATH=$prefix/lib/python3/dist-packages "$python" check.py 910b2 | grep '^right'
