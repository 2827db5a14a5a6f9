#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acl_sharing_test.sh PREFIX SOURCES HEAP: programs of the C API with shares of a card's time and memory.
# HEAP: the source of a heap that is elsewhere for every seed.
source "$(dirname "$0")/programs.sh"
c_program "$2/spins.c" spins -lascendcl

run() { exec_on 910b2 "$@" || { cat errors; exit 1; }; }
took() { sed -n 's/^took //p' output | sort -g; }
# near A B PERCENT
near() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { exit !(a > b * (1 - p / 100) && a < b * (1 + p / 100)) }'; }

run -- ./spins 2000 20000
alone=$(took)

# 30 and 70 %: slowdowns of 3.3 and 1.4; the report says what each had, and is the same every time.
run --share p0=30 --share p1=70 --report first.json -- ./spins 2000 20000 ::: ./spins 2000 20000
mapfile -t times < <(took)
near "${times[1]}" "$(awk "BEGIN { print $alone / 0.3 }")" 10
near "${times[0]}" "$(awk "BEGIN { print $alone / 0.7 }")" 10
grep '"exec.p0.sharing.busy_us"' first.json > /dev/null
run --share p0=30 --share p1=70 --report again.json -- ./spins 2000 20000 ::: ./spins 2000 20000
cmp first.json again.json

# Wherever the memory of all that is, and whichever thread ends first.
c++ -std=c++17 -shared -fPIC "$3" -o heap.so
c++ -std=c++17 -I"$prefix/include" "$2/threads.cpp" -L"$library" -lascendcl -pthread -o threads
for programs in "./spins 300 20000 ::: ./spins 30 20000" "./threads ::: ./threads"; do
  read -ra words <<< "$programs"
  run --share p0=30 --share p1=70 --report heap0.json -- "${words[@]}"
  for seed in 1 2 3 4 5 6; do
    SCATTER=$seed LD_PRELOAD=$PWD/heap.so run --share p0=30 --share p1=70 --report "heap$seed.json" \
      -- "${words[@]}"
    cmp heap0.json "heap$seed.json"
  done
done

# Programs that a shell starts: the same every time, too.
for report in shell1.json shell2.json; do
  run --report $report -- sh -c './spins 20 2000 & ./spins 30 2000 & wait'
done
cmp shell1.json shell2.json

# Alone, a fixed share is a hard limit, and an elastic one none.
run --share p0=50 -- ./spins 2000 20000
near "$(took)" "$(awk "BEGIN { print $alone / 0.5 }")" 10
run --share p0=50 --sharing policy=elastic -- ./spins 2000 20000
near "$(took)" "$alone" 2
run --share p0=token=16384 -- ./spins 2000 20000
near "$(took)" "$(awk "BEGIN { print $alone / 0.25 }")" 10

# A quota is what there is.
run --share p0=memory=64MiB -- ./spins 1 100 64

# Bad input is one line.
for words in p0 p0= p1=30 p0=101 p0=cores=3 p0=30,token=70000 x=3 p0=memory=1; do
  code=0
  exec_on 910b2 --share "$words" -- ./spins || code=$?
  [[ $code == 2 || $words == p0=memory=1 ]] || { echo "$words: $code"; exit 1; }
  [[ $words == p0=memory=1 || $(wc -l < errors) == 1 ]]
done
for words in policy policy=none window_us=1 windows=3; do
  code=0
  exec_on 910b2 --sharing "$words" -- ./spins || code=$?
  is_one_line $code
done

# Metrics of clients while they run; who has ended has none, and looking changes no report.
ask() (
  exec 3<> "/dev/tcp/127.0.0.1/$1"
  printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
  cat <&3
)
programs=(./spins 4000 20000 ::: ./spins 2000 20000)
run --share p0=30 --share p1=70 --report unwatched.json -- "${programs[@]}"
"$prefix/bin/npusim" --config 910b2 exec --metrics 127.0.0.1:0 --share p0=30 --share p1=70 \
  --report watched.json -- "${programs[@]}" 2> errors > output &
watched=$!
until port=$(sed -n 's/^npusim: metrics on 127.0.0.1://p' errors) && [[ -n $port ]]; do sleep 0.05; done
both=0 alone=0
while kill -0 $watched 2> /dev/null; do
  ask "$port" > text 2> /dev/null || continue
  grep -q 'npusim_client_core_busy_seconds_total{client="p1"' text && both=1
  if ((both)) && grep -q 'client="p0"' text && ! grep -q 'client="p1"' text; then alone=1; fi
done
wait $watched
[[ $both == 1 && $alone == 1 ]]
cmp unwatched.json watched.json || { diff unwatched.json watched.json | head -n 40; exit 1; }
