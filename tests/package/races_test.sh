#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# races_test.sh PREFIX SOURCES: `npusim exec --races` tells of each race and of nothing else: one by
# one with and without what orders it, of two programs, and of random programs.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
prefix=$1
sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(dirname "$(find "$prefix"/lib* -name libascendcl.so | head -n 1)")
for program in races random_races; do
  c++ -g -std=c++17 -I"$prefix/include" "$sources/$program.cpp" -L"$library" -lacl_rt -o "$program"
done
cc -g -std=c99 -I"$prefix/include" "$sources/races_shared.c" -L"$library" -lascendcl -o races_shared

exec_on() { "$prefix/bin/npusim" --config 910b2 exec "$@" > output 2> errors; }
lines() { grep -c '^npusim: race: ' errors || true; }
fails() { echo "$*"; cat errors; exit 1; }

# Both places with their lines, which are in the function of the case.
for name in kernel_and_kernel copy_and_kernel late_event notify zero_copy host_order free free_host host_write \
  host_read behind_copy behind_event behind_stream second_copy inlined; do
  code=0
  exec_on --races=fail -- ./races $name race || code=$?
  [[ $code == 1 && $(lines) == 1 ]] || fails "$name: not found"
  [[ $(grep -o 'kCases (races.cpp:[0-9]*)' errors | sort -u | wc -l) == 2 ]] || fails "$name: places"
  exec_on --races=fail -- ./races $name ordered || fails "$name: ordered, and found"
  [[ $(lines) == 0 ]]
done
exec_on --races=fail -- ./races reads race || fails "reads alone"

# What is inlined has its own line and that of the call.
exec_on --races -- ./races inlined race
[[ $(grep -o 'fill_in_place (races.cpp:[0-9]*) < kCases' errors | wc -l) == 2 ]] || fails "inlined: places"
# Of two threads at the same line each is named.
exec_on --races=fail -- ./races threads ordered || fails "threads: ordered, and found"
exec_on --races -- ./races threads race
[[ $(lines) == 1 ]] && grep -q ': p0.t1 .* writes, p0.t2 .* writes' errors || fails "threads: not named"

# Told, but the exit code is the program's; the report has it, and without --races nothing of it.
exec_on --races --report report.json -- ./races free race
grep -q '"races.found", "value": 1,' report.json
exec_on --report without.json -- ./races free race
[[ $(lines) == 0 ]]
! grep -q races.found without.json

# Two programs.
for order in race ordered; do
  rm -f pipe
  mkfifo pipe
  exec_on --races -- ./races_shared give pipe $order ::: ./races_shared take pipe $order
  [[ $(lines) == $([[ $order == race ]] && echo 1 || echo 0) ]] || fails "two programs: $order"
  [[ $order != race ]] || grep -q 'p0.t0 .*fill (races_shared.c:.*give.*p1.t0 .*take' errors
done

for seed in 1 2 3 5 6; do # those of few steps have few races, and 5 has none
  exec_on --races --report random.json -- ./random_races $seed $((seed % 2 ? 12 : 60))
  python3 "$sources/races.py" output random.json || fails "random program $seed"
done

refused() { # WHY WORDS...
  code=0
  exec_on "${@:2}" -- ./races reads race || code=$?
  [[ $code == 2 && $(< errors) == "npusim: exec: --races$1" ]] || fails "not refused: ${*:2}"
}
refused ": found 'all'; allowed: report, fail" --races=all
refused " does not see virtual functions (--vf)" --races --vf 0
