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
grep -q '100% tests passed, 0 tests failed out of 10' log || fail 'not ten tests'
grep -q 'tests="10"' build/junit.xml || fail 'no report of ctest'

for run in a b; do
  NPUSIM_REPORTS=$run build/copier_test --gtest_output=xml:$run.xml >>log || fail 'the program itself'
done
cmp a.xml b.xml || fail 'two runs differ'
diff -r a b || fail 'the reports of two runs differ'
report=CopierTest.SubmissionReadsNoRegister.json
grep -q '"copier.submit.accesses.mmio_reads", "value": 0' a/$report || fail 'no count'
grep -q '"test.never_freed.objects", "value": 0' a/CopierTest.GivesBackWhatItTook.json || fail 'leaks'
"$prefix/bin/npusim" compare a/$report b/$report >>log || fail 'equal reports differ'

# The regression that this is for.
sed -i 's|^  const auto ticket = device_->submit|  platform_->map_bar(device_->info().bdf(), 0, 0x1000, 0x1000, npu::platform::Caching::kUncached).value()->read32(8);\n&|' copier.cpp
cmake --build build >>log 2>&1 || fail 'build of the changed driver'
if NPUSIM_REPORTS=c build/copier_test --gtest_filter='*Submission*' >log; then fail 'one more read passes'; fi
grep -q 'MMIO read of 4 bytes of DMA_CONSUMER_INDEX (01:00.0 BAR0+0x1008) = ' log || fail 'no list'
grep -qF '[  FAILED  ] 2 tests' log || fail 'not both tests failed'
if "$prefix/bin/npusim" compare a/$report c/$report >compared; then fail 'compare finds nothing'; fi
grep -q 'copier.submit.accesses.mmio_reads' compared || fail 'the read is not named'

# What the driver never frees is told, and an error where the test says so.
sed -i 's|  if (device_) static_cast<void>(device_->free(memory_));.*||' copier.cpp
cmake --build build >>log 2>&1 || fail 'build of the driver that leaks'
build/copier_test --gtest_filter='*BringsBack*' >log || fail 'a leak is no error by itself'
grep -qF '[  LEAKS   ] 1 device buffer (2MiB) never freed' log || fail 'the leak is not told'
if build/copier_test --gtest_filter='*GivesBack*' >log; then fail 'a declared leak passes'; fi
