#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hccl_test.sh PREFIX SOURCES: programs with collectives, compiled in an empty folder against what is
# installed, give what they should under `npusim exec`: ranks as threads and as processes.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
prefix=$1
sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(dirname "$(find "$prefix"/lib* -name libhccl.so | head -n 1)")
for file in "$sources"/*.cpp; do
  c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" "$file" -L"$library" -lhccl -lascendcl \
    -pthread -o "$(basename "$file" .cpp)"
done
# The headers are C as well.
echo '#include <hccl/hccl.h>
int main(void) { return HcclGetRankId(0, 0) == HCCL_E_PTR ? 0 : 1; }' > plain.c
cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" plain.c -L"$library" -lhccl -o plain
LD_LIBRARY_PATH=$library ./plain

run() { # CONFIG REPORT WORDS...
  "$prefix/bin/npusim" --config "$1" exec --report "$2" -- "${@:3}" 2> errors > output
}
expect() { # HOW-MANY CONFIG REPORT WORDS...
  run "${@:2}" || { cat errors output; echo "failed: ${*:4}"; exit 1; }
  [[ $(grep -c '^right$' output) == "$1" ]] || { cat errors output; echo "not right: ${*:4}"; exit 1; }
}

expect 1 system-2x910b2 first.json ./operations
expect 1 system-2x910b2 again.json ./operations
cmp first.json again.json
expect 1 system-8x910b report.json ./operations few
HCCL_ALGO=level0:ring expect 1 system-2x910b2 ring.json ./operations few
grep '"exec.p0.HcclAllReduce.calls"' report.json > /dev/null
# Vector cores carry out what they are told to, on a 910C also by default.
by_cores() { # REPORT
  grep '"card0.cores.blocks", "value": [1-9]' "$1" > /dev/null
}
! by_cores first.json
HCCL_OP_EXPANSION_MODE=AIV expect 1 system-2x910b2 report.json ./operations
by_cores report.json
expect 1 system-2x910c report.json ./operations few
by_cores report.json
HCCL_OP_EXPANSION_MODE=AI_CPU expect 1 system-2x910c report.json ./operations few
! by_cores report.json

expect 1 system-2x910b2 report.json ./misuse
grep ': rank 0 sends 10 elements to rank 1, which receives 20$' errors > /dev/null
grep '^HCCL: /dev/null is no JSON$' errors > /dev/null
# Who waits for a rank that does not come is told after the environment's time, in simulated seconds.
HCCL_EXEC_TIMEOUT=2 expect 1 system-2x910b2 report.json ./misuse late
grep '^told: device 0 has a rank of this program already$' errors > /dev/null
grep '^told: 1 of 2 ranks have come in time, missing: 1$' errors > /dev/null
grep '^npusim: warning: p0: operation 1 of .* rank 1 calls HcclAllReduce' errors > /dev/null
ps=$(sed -n 's/.*"simulated_ps": \([0-9]*\).*/\1/p' report.json)
((ps > 242 * 10 ** 12 && ps < 243 * 10 ** 12)) # twice until all have come, and once for an operation
for variable in HCCL_BUFFSIZE=0 HCCL_CONNECT_TIMEOUT=1 HCCL_EXEC_TIMEOUT=long HCCL_ALGO=level3:ring \
  HCCL_OP_EXPANSION_MODE=GPU; do
  code=0
  run system-2x910b2 report.json env "$variable" ./operations || code=$?
  [[ $code == 1 ]] && grep "^HCCL: ${variable%%=*}=${variable#*=} " errors > /dev/null
done

cat > table.json << 'TABLE'
{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [{"server_id": "node", "device": [
  {"device_id": "0", "device_ip": "192.168.1.8", "rank_id": "0"},
  {"device_id": "1", "device_ip": "192.168.1.9", "rank_id": "1"}]}]}
TABLE
expect 2 system-2x910b2 report.json ./processes 0 2 root info ::: ./processes 1 2 root info
expect 2 system-2x910b2 report.json ./processes 1 2 table table.json ::: ./processes 0 2 table table.json
# A rank whose process ends is an error of the others.
for mode in HOST AIV; do
  rm info
  code=0
  HCCL_OP_EXPANSION_MODE=$mode run system-2x910b2 report.json ./processes 0 2 dies info ::: \
    ./processes 1 2 dies info || code=$?
  [[ $code == 3 && $(grep -c '^right$' output) == 1 ]]
  grep 'rank 1 has left' errors > /dev/null
  grep '"exec.memory_left_bytes", "value": 0,' report.json > /dev/null
done
