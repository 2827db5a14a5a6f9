#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# runtime_test.sh PREFIX SOURCES: programs of the runtime below the ACL, compiled in an empty folder
# against what is installed, give what they should under `npusim exec`; and a library in front of it
# sees what programs do by the ACL.
source "$(dirname "$0")/programs.sh"
sources=$2/rt
for name in memory launch orders heap misuse; do c_program "$sources/$name.c" "$name" -lruntime -pthread; done
c_program "$sources/hooked.c" hooked -lascendcl -pthread
cc -std=gnu99 -Wall -Wextra -Werror -shared -fPIC -I"$prefix/include" "$sources/hook.c" -ldl -o hook.so
cpp_program "$2/acl/framework.cpp" framework

expect_right() { expect 1 report.json "$@"; }
for program in memory orders heap misuse; do expect_right "./$program"; done
expect_right ./launch "$(find "$prefix" -name empty.npu)"

# Every allocation, query, launch, copy, wait and record of the ACL is one of the runtime's: what is
# in front of it sees them and keeps the program to its quota.
gib=$((1 << 30))
hooked() { expect_right env LD_PRELOAD="$folder/hook.so" HOOK_QUOTA="$gib" "$@"; }
hooked ./hooked "$gib"
grep '^hook: malloc 4 physical 1 info 1 handle 4 flag 0 aicpu 0 model 0 copy 2 wait 1 record 1$' errors > /dev/null ||
  { cat errors; exit 1; }
# So it is for a program that opens libascendcl by its name.
hooked ./framework "$gib"
grep -E '^hook: malloc 1 physical 0 info 1 ' errors > /dev/null || { cat errors; exit 1; }
# Without npusim a program is told so.
LD_LIBRARY_PATH=$library ./memory 2> errors && exit 1
grep 'rtSetDevice(0): 507899, expected 0' errors > /dev/null
