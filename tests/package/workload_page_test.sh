#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# workload_page_test.sh PROGRAM WORK: npusim with the workload of docs/writing-a-workload.md does what
# the page says. WORK has what extract.py has taken from it.
set -euo pipefail
program=$1 work=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$program" npusim

fail() {
  cat log
  printf 'failed: %s\n' "$1"
  exit 1
}
PATH=$folder:$PATH bash "$work/run.sh" >log 2>&1 || fail "$work/run.sh"
./npusim list --names >all
grep -qx copy_chain all || fail 'not in npusim list'
# What the page shows of the list is what it says.
./npusim list copy_chain >shown
while IFS= read -r line; do
  grep -qxF -- "$line" shown || fail "npusim list copy_chain does not say: $line"
done < <(sed -n '/^copy_chain$/,/^```$/p' "$work/page.md" | grep -v '^```')
./npusim --config 910b run copy_chain --set sizes=1KiB --set copies=64 --set policy=interrupt --report again.json >>log
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
./npusim --config 910b run copy_chain --set copies=0 >log 2>&1 || code=$?
((code == 2)) || fail "copies=0 ends with $code, not 2"
