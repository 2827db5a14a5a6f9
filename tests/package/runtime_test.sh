#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# runtime_test.sh PREFIX SOURCES: programs of the runtime below the ACL, compiled in an empty folder
# against what is installed, give what they should under `npusim exec`; and a library in front of it
# sees what programs do by the ACL.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
prefix=$1
sources=$2/rt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(dirname "$(find "$prefix"/lib* -name libruntime.so | head -n 1)")
c_program() { # FILE LIBRARY OUTPUT
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" "$1" -L"$library" -l"$2" -pthread -o "$3"
}
for name in memory launch orders heap misuse; do c_program "$sources/$name.c" runtime "$name"; done
c_program "$sources/hooked.c" ascendcl hooked
cc -std=gnu99 -Wall -Wextra -Werror -shared -fPIC -I"$prefix/include" "$sources/hook.c" -ldl -o hook.so
c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" "$2/acl/framework.cpp" -o framework

run() { "$prefix/bin/npusim" --config 910b2 exec --report report.json -- "$@" 2> errors > output; }
expect() { # PROGRAM...
  run "$@" || { cat errors output; echo "failed: $*"; exit 1; }
  [[ $(grep -c '^right$' output) == 1 ]] || { cat errors output; echo "not right: $*"; exit 1; }
}

for program in memory orders heap misuse; do expect "./$program"; done
expect ./launch "$(find "$prefix" -name empty.npu)"

# Every allocation, query, launch, copy, wait and record of the ACL is one of the runtime's: what is
# in front of it sees them and keeps the program to its quota.
gib=$((1 << 30))
hooked() { expect env LD_PRELOAD="$folder/hook.so" HOOK_QUOTA="$gib" "$@"; }
hooked ./hooked "$gib"
grep '^hook: malloc 4 physical 1 info 1 handle 4 flag 0 aicpu 0 model 0 copy 2 wait 1 record 1$' errors > /dev/null ||
  { cat errors; exit 1; }
# So it is for a program that opens libascendcl by its name.
hooked ./framework "$gib"
grep -E '^hook: malloc 1 physical 0 info 1 ' errors > /dev/null || { cat errors; exit 1; }
# Without npusim a program is told so.
LD_LIBRARY_PATH=$library ./memory 2> errors && exit 1
grep 'rtSetDevice(0): 507899, expected 0' errors > /dev/null
