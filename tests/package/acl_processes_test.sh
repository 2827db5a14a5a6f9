#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acl_processes_test.sh PREFIX SOURCES: programs of the C API as processes: signals, time, execve(),
# fork(), devices that they may see, and what is left when a run is ended.
source "$(dirname "$0")/programs.sh"
mkdir temporary
export TMPDIR=$folder/temporary
for program in signals sleeps patient heartbeat polls executes forks visible leaves pins waits; do
  c_program "$2/$program.c" "$program" -lascendcl
done

metric() { sed -n "s/.*\"exec.p0.$1\", \"value\": \([0-9.]*\).*/\1/p" "$2"; }

# Threads do the same things at the same times.
expect 1 report.json ./pins

# Signals with handlers that restart nothing, at every first call and every other one.
for period in 200 400 1000 5000; do expect 1 report.json ./signals "$period"; done

# Sleeps of any length, in simulated time and to the picosecond; time-outs of weeks.
expect 1 short.json ./sleeps 1
expect 1 long.json ./sleeps 10000
longer=$(awk "BEGIN { printf \"%.6f\", $(metric sleep.total_us long.json) - $(metric sleep.total_us short.json) }")
[[ $longer == 30006999000.000000 ]] # three sleeps of 9,999 s more, one of 9.999 s
expect 1 report.json ./patient 3
# Or until a call ends or is never answered, while a thread sleeps all the time.
expect 1 report.json ./heartbeat 1000000000
code=0
exec_on 910b2 -- ./heartbeat || code=$?
[[ $code == 1 && $(wc -l < errors) == 1 ]]
grep 'nothing more can happen: .*; p0.t0 is in aclrtSynchronizeStream since [0-9.]* us; p0.t1 is in sleep since [0-9.]* us$' errors > /dev/null

# Whatever a thread repeats, time goes on: another one wakes when it is to, the same every time.
for call in event unrecorded stream device count memory error wrong; do
  expect 1 first.json ./polls "$call"
  mv output before
  expect 1 again.json ./polls "$call"
  cmp before output
  cmp first.json again.json
  awk "BEGIN { exit !($(metric duration_us first.json) < 1500) }"
done

# Another image of a process begins anew; children have nothing of their parents'; who outlives his
# parents is waited for. A program that ends does not wait for its calls.
expect 1 report.json ./executes 3
[[ $(metric aclInit.calls report.json) == 4 ]]
grep '"exec.memory_left_bytes", "value": 0' report.json > /dev/null
expect 4 report.json ./forks
grep '"exec.p3.exit_code"' report.json > /dev/null
for call in sleep report callback days; do
  expect 1 report.json ./leaves "$call"
  awk "BEGIN { exit !($(metric duration_us report.json) < 10000) }"
done

# The devices that a program may see.
sees() { expect_on system-2x910b2 1 --report report.json -- env ASCEND_RT_VISIBLE_DEVICES="$1" ./visible "$2"; }
for list in "1 1" "0 1" "1*,0 1" "0,5 1" "5 0" "-1,0 0" "0,0 0" "1,0 2" "0,1 2" "0,1,0 2" "01 1" \
  "18446744073709551617 0"; do
  sees "${list% *}" "${list#* }"
done
sees "1, 0" 1
sees "" 0
expect_on system-2x910b2 1 -- ./visible 2
# ... by the machine's numbers: what is copied to device 0 of the program goes to the second card.
sees 1 1
grep '"card1.dma.h2d_bytes", "value": [1-9]' report.json > /dev/null || true

# However a run ends, its report says so, and nothing stays: no program, no file.
nothing_stays() { [[ -z $(ls -A temporary) ]] && ! pgrep -f "^$folder/" > /dev/null; }
code=0
exec_on 910b2 --report report.json -- ./waits || code=$?
[[ $code == 1 && $(wc -l < errors) == 1 ]]
grep '"outcome": "failed: exec: timeout: nothing more can happen' report.json > /dev/null
grep '"exec.p0.aclrtCreateStream.calls", "value": 1' report.json > /dev/null
nothing_stays
for signal in INT TERM HUP; do
  for program in "$folder/polls for_ever" "sleep 1000" "sh -c '$folder/polls for_ever & wait'"; do
    rm -f report.json
    code=0
    eval timeout --foreground -s "$signal" --preserve-status 1 "$prefix/bin/npusim" --config 910b2 exec \
      --report report.json -- "$folder/polls" for_ever ::: "$program" > output 2> errors || code=$?
    [[ $code == $((128 + $(kill -l "$signal"))) && $(wc -l < errors) == 1 ]]
    grep '"outcome": "interrupted"' report.json > /dev/null
    grep '"exec.p0.aclInit.calls", "value": 1' report.json > /dev/null
    nothing_stays
  done
done
