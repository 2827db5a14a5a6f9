#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exec_calls.sh NPUSIM PROGRAM SEEDS ROUNDS: calls at random end as they should, and a seed gives the
# same report twice.
source "$(dirname "$0")/../support/in_folder.sh"
for ((seed = 1; seed <= $3; ++seed)); do
  for again in first second; do
    [[ $again == first || $seed == 1 ]] || continue
    "$1" --config 910b2 exec --report "$again.json" -- "$2" "$seed" "$4" > "output" 2>&1 ||
      { cat "output"; echo "seed $seed"; exit 1; }
    grep '^right$' "output" > /dev/null || { cat "output"; echo "seed $seed"; exit 1; }
  done
done
