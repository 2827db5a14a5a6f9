#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acl_test.sh PREFIX SOURCES: programs of the C API and of the HAL, compiled in an empty folder
# against what is installed, give what they should under `npusim exec`, and reports that are the
# same every time.
source "$(dirname "$0")/programs.sh"
sources=$2
for file in "$sources"/acl/*.c; do # those with HAL calls: acl_driver_keys_test.sh
  grep -q '<ascend_hal.h>' "$file" || c_program "$file" "$(basename "$file" .c)" -lascendcl
done
for file in "$sources"/hal/*.c; do c_program "$file" "hal_$(basename "$file" .c)" -lascend_hal; done
for file in "$sources"/acl/*.cpp; do
  libraries=(-lacl_rt)
  [[ $file != */framework.cpp ]] || libraries=()
  cpp_program "$file" "$(basename "$file" .cpp)" "${libraries[@]}" -pthread
done

for program in hello busy copies launch launch_config events virtual_memory managed limits misuse threads \
  together callbacks asks signalled keys faults resources framework registered hal_memory hal_managed hal_virtual_memory hal_misuse hal_advice hal_host hal_buffers \
  operators added configured \
  landed filled held taken_away counts captured updated recorded_again event_graphs freed exported small built queued drawn late through pooled snapshots profiled blocked overtime prefetched sleepers zero_copy hooked; do
  expect 1 report.json "./$program"
done
expect 1 report.json ./notified 0
expect_on system-2x910b2 1 -- ./notified 1
for program in two_cards between_cards between_mappings opens; do
  expect_on system-2x910b2 1 -- "./$program"
done

for seed in 1 2 3; do # managed memory that two cards use, one of which comes and goes
  expect_on system-2x910b2 1 --report "cards$seed.json" -- ./managed_cards "$seed" 200
done
exec_on system-2x910b2 --report again.json -- ./managed_cards 3 200
cmp cards3.json again.json

# Managed memory through pointers: of threads, children, and at twice the card's memory.
for program in inherits touches; do expect 1 report.json "./$program"; done
for worked in 100 300 1000; do expect 1 report.json ./managed_edges "$worked"; done
for config in 910 950pr; do expect_on $config 1 -- ./unmanaged; done
for case in "1 0" "2 0" "3 1"; do
  read -ra words <<< "$case"
  expect_on 910b2 1 --set hbm.usable_mib=32 -- ./pointers 64 "${words[@]}"
done

# What the host sees of a copy on its way, too, is the same every time.
for i in 1 2; do
  expect 1 "bounced$i.json" ./bounced
  mv output "bounced$i"
done
cmp bounced1 bounced2
cmp bounced1.json bounced2.json

# Managed memory leaves for what cannot: of a card that it fills, and of a quota.
for full in "--set hbm.usable_mib=256" "--share p0=30,memory=192MiB"; do
  read -ra words <<< "$full"
  expect_on 910b2 1 "${words[@]}" -- ./managed_leaves 256
done
# A quota is that of a program and its children; what one had is back before its parent goes on.
exec_on 910b2 -- ./children_share
expect_on 910b2 1 --share p0=30,memory=2GiB -- ./children_share 2048

# By whichever call memory is asked for, a quota refuses the one that would pass it, and used and total
# memory are the same numbers by every interface; also of a quota that the program sets.
c_program "$sources/rt/quota.c" rt_quota -lruntime
c_program "$sources/dsmi/quota.c" dsmi_quota -lnpudsmi -lascendcl -lascend_hal -lruntime
expect 1 report.json ./dsmi_quota 64 own
for program in quota hal_quota rt_quota dsmi_quota; do
  for mib in 64 34; do expect_on 910b2 1 --share p0=memory=${mib}MiB -- ./$program $mib; done
done
# Threads that allocate and free at random, also where a quota refuses some.
for seed in 1 2 3; do
  expect 1 report.json ./heaps "$seed" 4 80
  expect_on 910b2 1 --share p0=memory=16MiB --report heaps.json -- ./heaps "$seed" 4 80
  grep '"exec.memory_left_bytes", "value": 0,' heaps.json > /dev/null
  grep '"exec.p0.sharing.refused", "value": [1-9]' heaps.json > /dev/null
done

# ACL, HAL and DSMI in whatever order they are linked, and ACL beside what is opened by its name.
beside() { # LIBRARIES...
  cc -std=c99 -Wall -Wextra -Werror -I"$prefix/include" "$sources/acl/beside_others.c" -L"$library" \
    -Wl,-rpath-link,"$library" -Wl,--no-as-needed "${@/#/-l}" -ldl -o beside_others
  expect 1 beside.json ./beside_others
  [[ $(sed -n 's/.*"simulated_ps": \([0-9]*\).*/\1/p' beside.json) -gt 900000000000 ]]
}
beside ascendcl ascend_hal npudsmi
beside ascendcl npudsmi ascend_hal
beside ascend_hal ascendcl npudsmi
beside ascend_hal npudsmi ascendcl
beside npudsmi ascendcl ascend_hal
beside npudsmi ascend_hal ascendcl
beside acl_rt ascend_hal npudsmi
for name in ascendcl acl_rt; do
  cc -std=c99 -DONLY_OPENED -Wall -Wextra -Werror -I"$prefix/include" "$sources/acl/beside_others.c" -L"$library" \
    -l$name -ldl -o beside_others
  for opened in ascend_hal npudsmi dcmi; do
    expect 1 beside.json ./beside_others "$library/lib$opened.so"
    [[ $(sed -n 's/.*"simulated_ps": \([0-9]*\).*/\1/p' beside.json) -gt 900000000000 ]]
  done
done

# The same program on another card: other times, the same results.
exec_on 910b2 --report first.json -- ./launch
expect_on 950pr 1 --report other.json -- ./launch
! cmp -s first.json other.json

# A kernel of one's own takes as long as the cores that it may be on make it.
expect 1 report.json ./limited "$(find "$prefix" -name empty.npu)" empty

# What a program never gave back is named. A block of aclrtMalloc() is 32 bytes longer than asked for.
for case in none:0,0,0,0 memory:3145760,0,0,0 managed:2097152,0,0,0 pinned:0,8192,0,0 streams:0,0,1,0 events:0,0,0,3; do
  expect 1 leaks.json ./leaks "${case%:*}"
  found=$(grep -oE '"exec\.p0\.left\.[a-z_]*", "value": [0-9]+' leaks.json | grep -oE '[0-9]+$' | paste -sd,)
  [[ $found == "${case#*:}" ]] || { echo "leaks ${case%:*}: $found"; exit 1; }
  [[ $(cat errors output | grep -c '^p0 never gave back') == "$([[ $case == none:* ]] && echo 0 || echo 1)" ]]
done

# Programs that share memory, by number and by name.
mkfifo pipe names ids
expect 2 report.json ./shared give pipe ::: ./shared take pipe
expect 2 report.json ./hal_shared give names ids ::: ./hal_shared take names ids

# Programs that share a card, one of which dies: the others go on, and every time in the same way.
together=(./dies DEATH ::: ./threads ::: ./launch ::: ./threads 2)
for death in abort exit kill; do
  together[1]=$death
  for i in 1 2 3; do
    exec_on 910b2 --report "together$i.json" -- "${together[@]}" && exit 1
    [[ $(rights) == 3 ]]
    cmp together1.json "together$i.json"
  done
done

# A program that starts others and goes on calling: they are in time with it, every time.
for i in 1 2 3 4; do
  expect 3 "spawned$i.json" ./spawns ./launch
  grep '"exec.p3.exit_code"' "spawned$i.json" > /dev/null
  cmp spawned1.json "spawned$i.json"
  expect 1 "python$i.json" python3 "$sources/acl/children.py" ./launch
  grep '"exec.p2.exit_code"' "python$i.json" > /dev/null
  cmp python1.json "python$i.json"
done

# Children that are killed while their threads are let in.
for i in 1 2 3; do
  expect 1 "killed$i.json" ./killed
  cmp killed1.json "killed$i.json"
done

# Up to 16 of them.
many=(./launch)
for count in 1 2 4 8 16; do
  while ((${#many[@]} < 2 * count - 1)); do many+=(::: ./launch); done
  expect "$count" "many.json" "${many[@]}"
done
exec_on 910b2 --report again.json -- "${many[@]}"
cmp many.json again.json

# What bounded a program's kernels is named.
for case in add:hbm matmul:mte2 spin:scalar; do
  expect_on 910b2 1 --profile --report bound.json -- ./bounds "${case%:*}"
  python3 "$sources/acl/bounds.py" bound.json "${case#*:}"
done

# A layer in front of the library: quotas it shows and keeps, managed memory in place of the card's,
# also more than the card has; for programs that are linked and for those that take names.
layer() { # MODE QUOTA PROGRAM...
  expect 1 report.json env LD_PRELOAD="$library/libnpushare.so" NPUSHARE_REPORT=1 NPUSHARE_MODE="$1" \
    NPUSHARE_QUOTA_BYTES="$2" "${@:3}"
  grep -E '^npushare: [1-9][0-9]* allocations, ' errors > /dev/null
}
gib=$((1 << 30))
for mode in native svm_coop svm_transparent; do
  layer "$mode" "$gib" ./layer "$gib" $((gib / 2))
  layer "$mode" "$gib" ./framework "$gib"
done
layer native $((64 << 20)) ./quota 64
layer svm_transparent $((200 * gib)) ./layer $((200 * gib)) $((150 * gib))
code=0
exec_on 910b2 -- env LD_PRELOAD="$library/libnpushare.so" NPUSHARE_MODE=none ./layer 1 1 || code=$?
[[ $code == 2 ]] && grep '^npushare: NPUSHARE_MODE=none$' errors > /dev/null

# What a program does between its calls takes the time that the configuration says.
work() { # SETTING...: its time, in us
  exec_on 910b2 --report report.json "$@" -- ./works
  grep -q '^right$' output
  sed -n 's/.*"exec.p0.work_us", "value": \([0-9]*\).*/\1/p' report.json
}
[[ -z $(work) ]]
wall=$(work --set host.programs.work=wall)
tenfold=$(work --set host.programs.work=wall --set host.programs.work_percent=1000)
[[ $wall -ge 3000 && $tenfold -ge 30000 ]]
took=$(sed -n 's/.*"exec.p0.duration_us", "value": \([0-9]*\).*/\1/p' report.json)
[[ $took -ge $tenfold ]]
code=0 # a machine without counters says so in one line
instructions=$(work --set host.programs.work=instructions) || code=$?
if [[ $code == 0 ]]; then [[ $instructions -ge 1 ]]; else
  is_one_line $code
  grep 'does not count instructions' errors > /dev/null
fi

# Who neither calls nor sleeps is waited for as long as the configuration says.
expect_on 910b2 2 --set host.programs.patience_ms=50 --report hung.json -- ./works 1000 ::: ./launch
grep '"exec.p0.stalls", "value": [1-9]' hung.json > /dev/null

# Who waits for what will never be is told so, and which call that is.
code=0
exec_on 910b2 -- ./waits || code=$?
[[ $code == 1 && $(wc -l < errors) == 1 ]]
grep 'nothing more can happen: .*; p0.t0 is in aclrtSynchronizeStream since [0-9.]* us$' errors > /dev/null
for policy in best_effort elastic fixed_share; do # turns that nobody makes use of are nothing
  code=0
  exec_on 910b2 --share p0=30 --share p1=50,token=30000 --sharing policy=$policy -- ./waits ::: ./waits || code=$?
  [[ $code == 1 && $(wc -l < errors) == 1 ]]
  grep 'nothing more can happen: .*; p1.t0 is in aclrtSynchronizeStream' errors > /dev/null
done

# Without npusim a program is told so.
LD_LIBRARY_PATH=$library ./hello 2> errors && exit 1
grep 507899 errors > /dev/null
LD_LIBRARY_PATH=$library ./hal_memory 2> errors && exit 1
grep 'drvGetDevNum(&count): 1, expected 0' errors > /dev/null
# What cannot be run is bad input, in one line.
for words in "" "./none" "./hello :::" "::: ./hello"; do
  code=0
  # shellcheck disable=SC2086
  exec_on 910b2 -- $words || code=$?
  is_one_line $code
done
