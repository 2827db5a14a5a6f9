#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gdb_exec_test.sh PREFIX SOURCES GDB CHECKS CONFIG: gdb at the kernels of a program that the installed
# `npusim gdb exec` runs; what cannot be run so is one line.
source "$(dirname "$0")/programs.sh"
sources=$2/ascendc
"$prefix/bin/npusim" cc "$sources/adds.cpp" > output
"$prefix/bin/npusim" cc "$sources/vectors.cpp" > output
"$prefix/bin/npusim" cc "$sources/stores.cpp" > output
head -c 10000 adds.o > torn.o
cpp_program "$sources/adds_main.cpp" adds -I"$sources" -lascendcl
cpp_program "$sources/stores_main.cpp" stores -I"$sources" -lascendcl
NPUSIM=$prefix/bin/npusim NPU_CONFIG=$5 KERNEL=$sources/adds.cpp "$3" -nx -batch -x "$4"
for words in "exec --seed 2 -- ./adds" "exec --html page.html -- ./adds" "matmul_kernel --races" exec \
  "exec -- ./adds :::"; do
  code=0
  # shellcheck disable=SC2086
  "$prefix/bin/npusim" --config "$5" gdb --stdio $words 2> errors > output < /dev/null || code=$?
  is_one_line $code || { cat errors; echo "not refused: $words"; exit 1; }
done
