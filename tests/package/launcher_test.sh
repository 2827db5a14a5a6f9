#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# launcher_test.sh ROOT CASE: ./npusim on machines that lack something.
# shellcheck disable=SC2016
source "$(dirname "$0")/../support/in_folder.sh"
root=$1
mkdir bin
export PATH=$folder/bin:$PATH NPUSIM_BUILD_DIR=$folder/build

tool() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
fail() {
  printf 'failed: %s\nstdout: %s\nstderr: %s\n' "$1" "$(<out)" "$(<err)"
  exit 1
}
launch() {
  code=0
  "$root/npusim" "$@" >out 2>err </dev/null || code=$?
}

# Everything but ninja-build is installed.
one_package_missing() {
  tool dpkg-query 'for p in "$@"; do case $p in -*|\$*|ninja-build);; *) echo "$p installed";; esac; done'
  tool apt-cache 'exit 0'
}

names_the_missing_packages() {
  one_package_missing
  tool id 'echo 1000'
  tool sudo 'exit 1'
  launch list
  [[ $code == 2 ]] || fail "exit code $code, not 2"
  [[ $(grep -c . err) == 1 ]] || fail 'not one line'
  grep -q 'apt-get install -y --no-install-recommends ninja-build$' err || fail 'no apt-get line'
  [[ ! -s out ]] || fail 'stdout is not clean'
}

installs_what_is_missing() {
  one_package_missing
  tool id 'echo 0'
  tool apt-get 'echo "apt-get $*" >>'"$folder/apt.log"
  tool cmake 'exit 1'
  launch list
  [[ $code == 1 ]] || fail "exit code $code, not 1"
  grep -q 'install -y --no-install-recommends ninja-build$' apt.log || fail 'nothing installed'
  grep -q ' update' apt.log && fail 'needless update'
  [[ ! -s out ]] || fail 'stdout is not clean'
}

shows_a_failing_build() {
  tool dpkg-query 'for p in "$@"; do echo "$p installed"; done'
  tool cmake 'exit 0'
  tool ninja 'case "$*" in *-n*) ;; *) echo "[1/2] CXX a.o"; echo "a.cpp:1: error: odd"; exit 1;; esac'
  launch list
  [[ $code == 1 ]] || fail "exit code $code, not 1"
  grep -q 'a.cpp:1: error: odd' err || fail 'the compiler is not heard'
  [[ ! -s out ]] || fail 'stdout is not clean'
}

# The program gets its arguments, the caller's folder and the caller's stdin; one process builds
# at a time.
runs_the_program_where_it_was_called() {
  tool dpkg-query 'for p in "$@"; do echo "$p installed"; done'
  tool cmake 'exit 0'
  tool ninja 'case "$*" in *-n*) ;; *) echo begin; sleep 0.2; echo end;; esac >>'"$folder/log"
  mkdir -p build/bin
  tool program 'printf "%s|" "$PWD" "$@"'
  mv bin/program build/bin/npusim
  launch a 'b c' &
  first=$!
  launch_second=$("$root/npusim" x 2>/dev/null)
  wait "$first"
  [[ $launch_second == "$folder|x|" ]] || fail "second: $launch_second"
  [[ $(<out) == "$folder|a|b c|" ]] || fail 'arguments or folder lost'
  [[ $(tr '\n' ' ' <log) == 'begin end begin end ' ]] || fail "builds overlap: $(<log)"
}

# A shell that completes a line gets what is built, or nothing, at once.
completes_without_building() {
  tool dpkg-query 'exit 1'
  tool cmake "touch $folder/built"
  tool ninja "touch $folder/built"
  launch completion words bash -- npusim ru
  [[ $code != 0 ]] || fail 'there is no program'
  tool program 'printf "%s|" "$@"'
  mkdir -p build/bin
  mv bin/program build/bin/npusim
  launch completion words bash -- npusim ru
  [[ $(<out) == 'completion|words|bash|--|npusim|ru|' ]] || fail 'arguments lost'
  [[ ! -e built ]] || fail 'builds'
}

# Those of a copied build folder would hide from ccache all that includes them.
drops_precompiled_headers_of_another_place() {
  tool dpkg-query 'for p in "$@"; do echo "$p installed"; done'
  tool cmake 'exit 0'
  tool ninja 'exit 0'
  tool program 'exit 0'
  mkdir -p build/bin build/driver
  mv bin/program build/bin/npusim
  echo /another/place >build/.npu-configured
  touch build/driver/cmake_pch.hxx.gch
  launch list
  [[ ! -e build/driver/cmake_pch.hxx.gch ]] || fail 'still there'
  touch build/driver/cmake_pch.hxx.gch
  launch list
  [[ -e build/driver/cmake_pch.hxx.gch ]] || fail 'dropped in its own place'
}

"$2"
