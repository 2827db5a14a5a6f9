# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What .ci/run and .ci/full share; sourced, never run.

failed=()

# SystemC switches stacks of its own, which ASan's fake stacks (detect_stack_use_after_return) do
# not survive.
run_sanitized() { # BUILD CTEST-OPTION...
  local build=$1
  shift
  ASAN_OPTIONS=detect_stack_use_after_return=0 LSAN_OPTIONS=use_stacks=0 \
    UBSAN_OPTIONS=print_stacktrace=1 \
    ctest --test-dir "$build" --output-on-failure -j "$npu_jobs" -LE 'slow|package' "$@"
}

# run_stage NAME: runs stage_NAME and notes how long it took, beside its budget in minutes.
# Not `(...) || code=$?`: errexit would be ignored inside the stage.
run_stage() {
  local name=$1 begin=$SECONDS code=0
  printf '\n=== %s\n' "$name"
  set +e
  (
    set -e
    "stage_$name"
  )
  code=$?
  set -e
  local seconds=$((SECONDS - begin)) result=passed line
  ((code == 0)) || result="FAILED ($code)"
  printf -v line '=== %-9s %s in %d:%02d, budget %d:00\n' "$name:" "$result" $((seconds / 60)) \
    $((seconds % 60)) "${budget[$name]}"
  printf '%s' "$line"
  table+=$line
  printf '%s %d\n' "$name" "$seconds" >>"$durations"
  ((code == 0)) || failed+=("$name")
}

run_stages() { # NAME...
  local name
  table=''
  durations=build/ci-durations.txt  # a stage and its seconds a line
  [[ ${0##*/} == run ]] || durations=build/ci-${0##*/}-durations.txt
  : >"$durations"
  for name in "$@"; do run_stage "$name"; done
  printf '\n=== durations\n'
  printf '%s' "$table"
  printf 'total %d\n' "$SECONDS" >>"$durations"
  printf '=== %-9s %d:%02d\n' total: $((SECONDS / 60)) $((SECONDS % 60))
  if ((${#failed[@]})); then printf '=== FAILED: %s\n' "${failed[*]}"; fi
}
