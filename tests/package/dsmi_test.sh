#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dsmi_test.sh PREFIX SOURCES: programs that manage their cards under `npusim exec`, compiled in an
# empty folder against what is installed; their reports are the same every time.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
prefix=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(dirname "$(find "$prefix" -name libnpudsmi.so | head -n 1)")
for file in "$2"/*.c; do
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" "$file" -L"$library" -lnpudsmi \
    -lascendcl -lascend_hal -ldl -lm -pthread -o "$(basename "$file" .c)"
done

run() { "$prefix/bin/npusim" --config "$1" exec --report "$2" "${@:3}" 2> errors > output; }
right() { # CONFIG WORDS...: the program says so, and a second run is the same
  run "$1" first.json "${@:2}" || { cat errors output; exit 1; }
  [[ $(grep -c '^right$' output) -ge 1 ]]
  run "$1" again.json "${@:2}"
  cmp first.json again.json
}
metric() { sed -n "s/.*\"exec\\.$1\", \"value\": \\([0-9.]*\\).*/\\1/p" first.json; } # NAME

right 910b2 -- ./seen
right 950pr -- ./seen
right 910b2 --share p0=memory=256MiB -- ./seen 256
for name in libdcmi.so libdsmi.so libdrvdsmi_host.so; do
  right 910b2 -- ./tools $name
  awk -v slept="$(metric p0.sleep.total_us)" 'BEGIN { exit !(slept > 9e6) }' # ten seconds
done

# The computing token binds what kernels have of the time, of one program and of all together.
for case in dsmi:16384:25 hal:32768:50 dcmi:65535:96 hal:1000:2; do
  IFS=: read -r way token percent <<< "$case"
  right 910b2 -- ./token "$way" "$token"
  share=$(sed -n 's/^share //p' output)
  ((share >= percent - 1 && share <= percent + 1)) || { echo "$case: $share"; exit 1; }
  [[ $(sed -n 's/^again //p' output) -ge 94 ]]
done
right 910b2 -- ./token dsmi 16384 keep ::: ./token dsmi 16384 keep
[[ $(grep -cE '^share 2[3-7]$' output) == 2 ]]
# A program's own stays.
right 910b2 --share p0=token=16384 -- ./token dsmi 65535
[[ $(grep -cE '^share 2[3-6]$' output) == 1 ]]
right 910b2 -- ./stops
# Where nobody takes turns there is none.
run 910b2 first.json --share p0=50 --sharing policy=best_effort -- ./token dsmi 1 && exit 1
grep ': 65534, expected 0' errors > /dev/null

# Without npusim there are no cards.
LD_LIBRARY_PATH=$library ./tools libdcmi.so 2> errors && exit 1
grep 'init()' errors > /dev/null
