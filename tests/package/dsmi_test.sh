#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dsmi_test.sh PREFIX SOURCES: programs that manage their cards under `npusim exec`, compiled in an
# empty folder against what is installed; their reports are the same every time.
source "$(dirname "$0")/programs.sh"
for file in "$2"/*.c; do
  c_program "$file" "$(basename "$file" .c)" -lnpudsmi -lascendcl -lascend_hal -lruntime -ldl -lm -pthread
done

run() { rm -f "$2" && exec_on "$1" --report "$2" "${@:3}"; }
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

right system-2x910b2 -- ./commands

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

run 910b2 first.json --set driver.features.token_set_available=false -- ./token dsmi 1 && exit 1
grep ': 65534, expected 0' errors > /dev/null

# A virtual function as the only device: its cores, its memory; one each, one for two, and the card
# beside one.
right 910b2 --vf 0 -- ./function 12 15258
right 910b2 --vf 3,vir12_3c_32g -- ./function 24 30516
right 910b2 --vf 0 -- ./seen
right 950 --vf 1 -- ./seen
right 910b2 --vf p0=0 --vf p1=1 -- ./function 12 15258 300 ::: ./function 12 15258 300
apart=$(sed -n 's/^took //p' output | sort -g | tail -n 1)
right 910b2 --vf 0 -- ./function 12 15258 300
awk -v a="$apart" -v b="$(sed -n 's/^took //p' output)" 'BEGIN { exit !(a < b * 1.01) }'
right 910b2 --vf p1=1 -- ./function 48 63000 ::: ./function 12 15258
[[ $(grep -c '^right$' output) == 2 ]]
right 910b2 --vf 0 --share p0=30 -- ./function 12 15258 300
right 910b2 --vf 0 -- ./token dsmi 16384
[[ $(grep -cE '^share 2[4-6]$' output) == 1 ]]
[[ $(metric memory_left_bytes) == 0 ]]
# What cannot be is one line.
for words in 99 12 -1 x p0= p1=0 q0=1 =1 0, 0,none 0,vir12_3c_32g,x; do
  code=0
  run 910b2 first.json --vf "$words" -- ./function 12 15258 || code=$?
  is_one_line $code || { echo "--vf $words: $code"; exit 1; }
done
code=0 # more than there is
run 910b2 first.json --vf p0=0,vir12_3c_32g --vf p1=1,vir12_3c_32g --vf p2=2 -- ./seen ::: ./seen \
  ::: ./seen || code=$?
is_one_line $code && [[ ! -e first.json ]] || { cat errors; exit 1; }
code=0 # one function, two templates
run 910b2 first.json --vf p0=0,vir12_3c_32g --vf p1=0 -- ./seen ::: ./seen || code=$?
is_one_line $code

# Without npusim there are no cards.
LD_LIBRARY_PATH=$library ./tools libdcmi.so 2> errors && exit 1
grep 'init()' errors > /dev/null
