#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# c_example_test.sh SOURCE PREFIX WORK: examples/driver-in-c from a copy, with a C compiler and the
# installed package alone; its reports are the same twice, and one more register read is found.
set -euo pipefail
source=$1 prefix=$2 work=$3
rm -rf "$work"
cp -r "$source/examples/driver-in-c" "$work"
cd "$work"
export CMAKE_PREFIX_PATH=$prefix CXX=/bin/false

fail() {
  cat log
  printf 'failed: %s\n' "$1"
  exit 1
}
{
  cmake -B build -G Ninja && cmake --build build
  mkdir a b c
  for run in a b; do NPUSIM_REPORTS=$work/$run ctest --test-dir build --output-on-failure; done
} >log 2>&1 || fail 'build and test'
grep -q '100% tests passed, 0 tests failed out of 6' log || fail 'not six tests'
diff -r a b >>log || fail 'two runs differ'

sed -i 's|  const uint64_t source = to_card|  p->f->read32(p, m->registers, 0x1008);\n&|' mover.c
cmake --build build >>log 2>&1 || fail 'build of the changed driver'
if NPUSIM_REPORTS=c build/mover_test submission_reads_no_register >>log; then fail 'one more read passes'; fi
grep -q 'MMIO read of 4 bytes of DMA_CONSUMER_INDEX' log || fail 'no list'
name=mover.submission_reads_no_register.json
if "$prefix/bin/npusim" compare a/$name c/$name >compared; then fail 'compare finds nothing'; fi
grep -q 'mover.submit.accesses.mmio_reads' compared || fail 'the read is not named'
