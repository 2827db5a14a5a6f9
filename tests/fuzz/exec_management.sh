#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exec_management.sh NPUSIM PROGRAM SEEDS CALLS: device management called at random, by a program
# with a card and by ones with virtual functions, ends as it should, and the first seed gives the
# same report and the same codes twice.
source "$(dirname "$0")/../support/in_folder.sh"
devices=("--vf 0" "" "--vf 3,vir12_3c_32g --share p0=memory=64MiB" "--share p0=30,memory=64MiB")
for ((seed = 1; seed <= $3; ++seed)); do
  for device in "${devices[@]}"; do
    read -ra options <<< "$device"
    for again in first second; do
      [[ $again == first || $seed == 1 ]] || continue
      timeout 100 "$1" --config 910b2 exec "${options[@]}" --report "$again.json" \
        -- "$2" "$seed" "$4" > "$again" 2> "errors" && grep -q '^right$' "$again" ||
        { cat "$again" "errors"; echo "seed $seed, exec $device"; exit 1; }
    done
    [[ $seed == 1 ]] || continue
    cmp "first" "second" && cmp "first.json" "second.json" ||
      { echo "seed $seed, exec $device: not the same twice"; exit 1; }
  done
done
