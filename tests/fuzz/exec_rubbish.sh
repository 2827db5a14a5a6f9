#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exec_rubbish.sh NPUSIM RUBBISH NEIGHBOUR SEEDS: beside a program that talks nonsense, and dies of a
# signal in the end, another one is served as ever. The first may take all memory: there is no quota.
# One that writes rubbish into its shared memory changes nothing for anybody: same reports.
source "$(dirname "$0")/../support/in_folder.sh"
for seed in $(seq "$4"); do
  code=0
  output=$("$1" --config 910b2 exec -- "$2" 200 "$seed" ::: "$3" 3 2>&1) || code=$?
  # By chance it asks for something that lasts for ever, and npusim says so once nobody else is left.
  [[ $code == 1 ]] && grep -q 'nothing more can happen: .*p0' <<< "$output" && code=137
  if [[ $code != 137 ]] || ! grep -qE '^right$|207001, expected 0: out of memory' <<< "$output"; then
    printf 'seed %s: code %s\n%s\n' "$seed" "$code" "$output"
    exit 1
  fi
  for how in clean scribble; do
    "$1" --config 910b2 exec --report "$how.json" -- "$2" 200 "$seed" "$how" ::: "$3" 3 \
      > /dev/null 2>&1
    # What the program is called like is in its report.
    sed -i "s/ $how//" "$how.json"
  done
  if ! cmp "clean.json" "scribble.json"; then
    printf 'seed %s: rubbish in shared memory makes a difference\n' "$seed"
    exit 1
  fi
done
echo "no finding"
