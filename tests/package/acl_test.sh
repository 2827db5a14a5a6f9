#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acl_test.sh PREFIX SOURCES: programs of the C API, compiled in an empty folder against what is
# installed, give what they should under `npusim exec`, and reports that are the same every time.
set -euo pipefail
prefix=$1
sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(dirname "$(find "$prefix" -name libascendcl.so | head -n 1)")
for file in "$sources"/*.c; do
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" "$file" -L"$library" -lascendcl \
    -o "$(basename "$file" .c)"
done
for file in "$sources"/*.cpp; do
  c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" "$file" -L"$library" -lacl_rt -pthread \
    -o "$(basename "$file" .cpp)"
done

run() { "$prefix/bin/npusim" --config "$1" exec --report "$2" -- "${@:3}" 2> errors > output; }
rights() { grep -c '^right$' output; }

for program in hello copies launch launch_config events virtual_memory managed limits misuse threads; do
  run 910b2 report.json "./$program" || { cat errors; echo "$program failed"; exit 1; }
  [[ $(rights) == 1 ]]
done

# The same program on another card: other times, the same results.
run 910b2 first.json ./launch
run 950pr other.json ./launch
[[ $(rights) == 1 ]]
! cmp -s first.json other.json

# Programs that share a card, one of which dies: the others go on, and every time in the same way.
mkfifo pipe
run 910b2 report.json ./shared give pipe ::: ./shared take pipe
[[ $(rights) == 2 ]]
together=(./dies DEATH ::: ./threads ::: ./launch ::: ./threads 2)
for death in abort exit kill; do
  together[1]=$death
  for i in 1 2 3; do
    run 910b2 "together$i.json" "${together[@]}" && exit 1
    [[ $(rights) == 3 ]]
    cmp together1.json "together$i.json"
  done
done

# Without npusim a program is told so.
LD_LIBRARY_PATH=$library ./hello 2> errors && exit 1
grep 507899 errors > /dev/null
# What cannot be run is bad input, in one line.
for words in "" "./none" "./hello :::" "::: ./hello"; do
  code=0
  # shellcheck disable=SC2086
  "$prefix/bin/npusim" --config 910b2 exec -- $words 2> errors > output || code=$?
  [[ $code == 2 && $(wc -l < errors) == 1 ]]
done
