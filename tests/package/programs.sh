# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests with a PREFIX as first argument: programs are compiled in an empty folder against
# what is installed there, and run under `npusim exec`, with what they print in `output` and `errors`.
source "$(dirname "${BASH_SOURCE[0]}")/../support/in_folder.sh"
prefix=$1
library=$(dirname "$(find -L "$prefix"/lib* -name libascendcl.so | head -n 1)")

c_program() { # FILE OUTPUT OPTION...
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" "$1" -L"$library" "${@:3}" -o "$2"
}
cpp_program() { # FILE OUTPUT OPTION...
  c++ -std=c++17 -Wall -Wextra -Werror -I"$prefix/include" "$1" -L"$library" "${@:3}" -o "$2"
}
exec_on() { "$prefix/bin/npusim" --config "$1" exec "${@:2}" 2> errors > output; } # CONFIG WORD...
rights() { grep -c '^right$' output; }
expect_on() { # CONFIG HOW-MANY WORD...: programs of which so many say that all was right
  exec_on "$1" "${@:3}" || { cat errors output; echo "failed: ${*:3}"; exit 1; }
  [[ $(rights) == "$2" ]] || { cat errors output; echo "not right: ${*:3}"; exit 1; }
}
expect() { expect_on 910b2 "$1" --report "$2" -- "${@:3}"; } # HOW-MANY REPORT PROGRAM...
is_one_line() { [[ $1 == 2 && $(wc -l < errors) == 1 ]]; } # CODE: bad input, as npusim tells it
