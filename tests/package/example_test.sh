#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# example_test.sh SOURCE PREFIX WORK: examples/driver-regression from a copy, with the installed
# package alone; its report is the same twice; a driver with one more register read fails.
set -euo pipefail
source=$1 prefix=$2 work=$3
rm -rf "$work"
cp -r "$source/examples/driver-regression" "$work"
cd "$work"
export CMAKE_PREFIX_PATH=$prefix

fail() {
  cat log
  printf 'failed: %s\n' "$1"
  exit 1
}
{
  cmake -B build -G Ninja && cmake --build build
  ctest --test-dir build --output-on-failure --output-junit junit.xml
} >log 2>&1 || fail 'build and test'
grep -q '100% tests passed, 0 tests failed out of 8' log || fail 'not eight tests'
grep -q 'tests="8"' build/junit.xml || fail 'no report of ctest'

for run in a b; do build/copier_test --gtest_output=xml:$run.xml >>log || fail 'the program itself'; done
cmp a.xml b.xml || fail 'two runs differ'
grep -q '<property name="latency_ps" value="[0-9]*" />' a.xml || fail 'no latency'

# The regression that this is for.
sed -i 's|^  const auto ticket = device_->submit|  platform_->map_bar(device_->info().bdf(), 0, 0x1000, 0x1000, npu::platform::Caching::kUncached).value()->read32(8);\n&|' copier.cpp
cmake --build build >>log 2>&1 || fail 'build of the changed driver'
if build/copier_test --gtest_filter='*Submission*' >log; then fail 'one more read passes'; fi
grep -q 'MMIO read of 4 bytes of DMA_CONSUMER_INDEX (01:00.0 BAR0+0x1008) = ' log || fail 'no list'
grep -qF '[  FAILED  ] 2 tests' log || fail 'not both tests failed'
