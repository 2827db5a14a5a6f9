#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# driver_test_page_test.sh SOURCE PREFIX WORK: does what docs/writing-a-driver-test.md says, with the
# installed package alone.
set -euo pipefail
source=$1 prefix=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
"$source/tests/package/extract.py" "$source/docs/writing-a-driver-test.md" "$work"
cd "$work"
CMAKE_PREFIX_PATH=$prefix bash run.sh >log 2>&1 || { cat log; exit 1; }
grep -q '100% tests passed, 0 tests failed out of 47' log || { cat log; exit 1; }
