#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guide_test.sh SOURCE: every line of the guide's C++ listings is a line of its example.
set -euo pipefail
guide=$1/docs/guide
lines=0
while IFS= read -r line; do
  [[ -z ${line// /} ]] && continue
  lines=$((lines + 1))
  if ! grep -qxF -- "$line" "$guide"/saxpy/*.cpp; then
    echo "not in docs/guide/saxpy: $line"
    exit 1
  fi
done < <(awk '/^```cpp$/ {inside = 1; next} /^```$/ {inside = 0} inside' "$guide/kernels-and-graphs.md")
((lines > 20)) || { echo "the guide has $lines lines of listings"; exit 1; }
