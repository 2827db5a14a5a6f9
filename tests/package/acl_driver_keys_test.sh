#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# acl_driver_keys_test.sh PREFIX SOURCES: the keys driver.* and --metrics-prefix, as programs see them.
source "$(dirname "$0")/programs.sh"
for program in page_faults switched_off; do
  c_program "$2/$program.c" $program -D_DEFAULT_SOURCE -lascendcl -lascend_hal
done

run() {
  local sets=()
  while [[ $1 == *=* ]]; do sets+=(--set "driver.$1"); shift; done
  "$prefix/bin/npusim" --config 910b2 "${sets[@]}" exec "$@" 2> errors > output || { cat errors; exit 1; }
}

# Six page faults that nobody serves, 15 ms apart: the third one and 20 ms are too many, once.
warning='^npusim: warning: p0: device 0: [0-9]* page faults that nobody could serve, at [0-9.]* us$'
run fault_warning_errors=2 fault_warning_window_ms=20 --report many.json -- ./page_faults 6
[[ $(grep -c "$warning" errors) == 1 ]]
grep '"exec.p0.page_fault_warnings", "value": 1' many.json > /dev/null
run fault_warning_errors=2 fault_warning_window_ms=2000 --report few.json -- ./page_faults 6
run fault_warning_errors=6 fault_warning_window_ms=0 -- ./page_faults 6
[[ ! -s errors ]]
! grep page_fault_warnings few.json > /dev/null

# A feature that is off is refused, and no other.
off() { run "features.$1=false" -- ./switched_off "$2"; }
run -- ./switched_off
off support_managed_svm managed
off support_mem_prefetch_to_device prefetch
off support_mem_advise_effective advice
off support_vmm_reserve_map reserve
off support_device_stream_res_limit limits
off support_page_fault_counter counter
for key in svm_alloc_enforceable token_set_available dynamic_update resident_metric_available \
  support_host_uva_flag; do
  off $key none
done

code=0
"$prefix/bin/npusim" --config 910b2 --set driver.features.token_set_available=false exec --share p0=token=9 \
  -- ./switched_off 2> errors > output || code=$?
is_one_line $code

# Metrics under another program's names. The program ends when they have been seen.
mkfifo go
"$prefix/bin/npusim" --config 910b2 --set driver.fault_warning_errors=2 \
  --set driver.fault_warning_window_ms=20 exec --metrics 127.0.0.1:0 --metrics-prefix xpushare_npu \
  --share p0=50 -- ./page_faults 40 go 2> errors > output &
asked=$!
until port=$(sed -n 's/^npusim: metrics on 127.0.0.1://p' errors) && [[ -n $port ]]; do sleep 0.05; done
until [[ -s seen ]]; do
  kill -0 $asked
  exec 3<> "/dev/tcp/127.0.0.1/$port"
  printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
  cat <&3 > text
  ! grep -q 'page_fault_errors_total.* 40$' text || cp text seen
done
: > go
wait $asked
grep -q 'page_fault_warnings_total.* 1$' seen
! grep npusim_ seen > /dev/null
value() { sed -n "s/^xpushare_npu_client_$1{client=\"p0\",device=\"0\"} //p" seen; }
(($(value page_fault_errors_total) >= 3))
[[ $(value launch_window) == 6[0-9] && $(value modules) == 1 && $(value module_bytes) == 2097152 ]]
