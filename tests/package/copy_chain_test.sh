#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# copy_chain_test.sh: the workload of docs/writing-a-workload.md, in the folder of its reader and with
# npusim that has it: two runs are the same, parts add up, wrong parameters are refused.
set -euo pipefail

fail() {
  printf 'failed: %s\n' "$1"
  exit 1
}
npusim list --names | grep -x copy_chain >/dev/null || fail 'not in npusim list'
npusim --config 910b2 run copy_chain --set sizes=1KiB --set copies=64 --set policy=interrupt --report again.json >log
cmp chain.json again.json || fail 'two runs differ'
python3 - <<'END' || fail 'the parts do not add up'
import json
from decimal import Decimal
report = json.load(open("chain.json"), parse_float=Decimal)
found = {metric["name"]: metric["value"] for metric in report["metrics"]}
prefix = "copy_chain.1KiB."
parts = [value for name, value in found.items() if name.startswith(prefix + "breakdown.")]
assert len(parts) == 2 and sum(parts) == found[prefix + "latency_ns"], found
END
code=0
npusim --config 910b2 run copy_chain --set copies=0 >log 2>&1 || code=$?
((code == 2)) || fail "copies=0 ends with $code, not 2"
