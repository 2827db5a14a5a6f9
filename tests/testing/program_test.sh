#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# program_test.sh SAMPLE CASE: a test program as a person and as a CI service meet it.
source "$(dirname "$0")/../support/in_folder.sh"
sample=$1

fail() {
  printf 'failed: %s\n' "$1"
  cat out err
  exit 1
}
run() {
  code=0
  "$sample" "$@" >out 2>err </dev/null || code=$?
}
has() { grep -qF -- "$1" out || fail "no line '$1'"; }

every_end_is_told() {
  run
  [[ $code == 1 ]] || fail "exit code $code, not 1"
  has 'printed by a test'
  grep -qE '^\[       OK \] Sample.Passes \([0-9]+\.[0-9]{6} us simulated\)$' out || fail 'no time'
  has 'with 1 configuration accesses:'
  has 'configuration read of 2 bytes of STATUS (01:00.0 configuration+0x6) ='
  has '[  SKIPPED ] Sample.IsSkipped'
  has 'the process was ended by signal 11 (Segmentation fault)'
  has 'the process ended with 0 before the test did'
  has 'out of the body'
  has 'the test waits for ever: timeout: nothing more can happen: main waits for a condition'
  has 'link.lanes'
  grep -q 'the body is never reached' out && fail 'a test ran without its machine'
  has '[       OK ] WithoutAMachine.IsATestAsWell'
  has '[==========] 12 tests ran.'
  has '[  PASSED  ] 5 tests.'
  has '[  FAILED  ] 6 tests, listed below:'
}

one_test_runs_by_itself() {
  run --gtest_filter=Sample.Passes
  [[ $code == 0 ]] || fail "exit code $code, not 0"
  has '[  PASSED  ] 1 test.'
  run --gtest_filter=Sample.WaitsForEver
  [[ $code == 1 ]] || fail "exit code $code, not 1"
  has 'the test waits for ever'
  run --gtest_filter=Nothing.*
  [[ $code == 0 ]] || fail "exit code $code of no tests, not 0"
}

options_are_googletests() {
  run --gtest_list_tests
  [[ $code == 0 ]] || fail "exit code $code, not 0"
  has 'Chips/Values.'
  run --gtest_filter='Sample.Passes:Sample.IsSkipped' --gtest_repeat=2
  has '[==========] 4 tests ran.'
  run --gtest_fail_fast --gtest_filter='Sample.*'
  has '[==========] 2 tests ran.'
  GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=1 run
  has '[==========] 3 tests ran.'
  run --gtest_output=json:a.json
  [[ $code == 2 && ! -s out ]] || fail 'json is not what there is'
  run --gtest_output=xml:deep/in/a.xml --gtest_filter='Chips/*'
  [[ $code == 0 && -s deep/in/a.xml ]] || fail 'no report in a folder of its own'
  run --gtest_output=xml:out/a.xml --gtest_filter='Chips/*'
  [[ $code == 2 ]] || fail "exit code $code, not 2"
  grep -q 'out/a.xml: cannot be written: Not a directory' err || fail 'no error'
}

# Of tests that have come to their end, whatever that was.
reports_are_one_per_test_and_the_same_every_time() {
  NPUSIM_REPORTS=a run
  NPUSIM_REPORTS=b/deep run
  diff -r a b/deep >>out || fail 'two runs differ'
  [[ $(ls a | wc -l) == 7 ]] || fail "these reports: $(ls a)"
  grep -qF '"outcome": "complete"' a/Sample.Passes.json || fail 'one that passes is not complete'
  grep -qF '"outcome": "failed: the test"' a/Sample.Fails.json || fail 'one that fails is complete'
  grep -qF '"workload": "Chips/Values.AreConfigurations/2"' a/Chips_Values.AreConfigurations_2.json ||
    fail 'no report of a value'
  NPUSIM_REPORTS=out run --gtest_filter=Sample.Passes
  [[ $code == 1 ]] || fail "exit code $code, not 1"
  has 'cannot be written'
}

# Well formed, with what there is to know, and the same bytes every time.
junit_is_the_same_every_time() {
  run --gtest_output=xml:a.xml
  run --gtest_output=xml:b.xml
  cmp a.xml b.xml || fail 'two runs differ'
  python3 - <<'END' || fail 'not what was expected'
import xml.etree.ElementTree as tree
root = tree.parse("a.xml").getroot()
assert root.get("tests") == "12" and root.get("failures") == "6" and root.get("skipped") == "1", root.attrib
cases = {case.get("classname") + "." + case.get("name"): case for case in root.iter("testcase")}
passed = cases["Sample.Passes"]
values = {item.get("name"): item.get("value") for item in passed.iter("property")}
assert values["answer"] == '4 < 5 & "six"', values
assert passed.get("time") == "0.000001500000" and values["simulated_ps"] == "1500000", passed.attrib
assert "STATUS" in cases["Sample.Fails"].find("failure").get("message")
assert "? is no character" in cases["Sample.Fails"].find("failure").text
assert "signal 11" in cases["Sample.Crashes"].find("failure").get("message")
assert "main waits for a condition" in cases["Sample.WaitsForEver"].find("failure").get("message")
assert cases["Sample.IsSkipped"].find("skipped") is not None
assert cases["Sample.Exits"].find("failure") is not None
END
}

"$2"
