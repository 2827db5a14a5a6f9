#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# installed_test.sh PREFIX: the installed program finds its own files from an empty folder.
# grep reads to the end: with -q a program that still writes would fail by its broken pipe.
source "$(dirname "$0")/../support/in_folder.sh"
prefix=$1
env -i "$prefix/bin/npusim" --help | grep npusim > /dev/null
# single-card.yaml is the machine around a chip, not one that stands alone.
machines=$(grep -lE '^schema: npusim\.(chip|system)/' "$prefix"/share/npusim/configs/*.yaml | grep -v single-card)
for config in $machines; do
  env -i "$prefix/bin/npusim" --config "$(basename "$config")" config check
done
env -i "$prefix/bin/npusim" --config 910b run enumerate | grep 19e5:d110 > /dev/null
env -i "$prefix/bin/npusim" --config 910b run graph --set graph=chain --set parameters=length=3 > /dev/null
# Operators: from the installation's templates, and from others with another compiler, both kept.
operator() { env -i PATH=/usr/bin:/bin "$@" "$prefix/bin/npusim" --config 910b run operator --set shape=16,16,16; }
operator | grep 'basic_matmul: key ' > /dev/null
mkdir own
cp -r "$prefix/share/npusim/operators/kernels" "$prefix/include" own
printf '#!/bin/sh\necho "$@" >> calls\nexec c++ "$@"\n' > own/compiler
chmod +x own/compiler
operator NPUSIM_OPERATORS_DIR="$folder/own" NPUSIM_JIT_CXX="$folder/own/compiler" | grep 'basic_matmul: key ' > /dev/null
grep " -I$folder/own -I$folder/own/include .* $folder/own/kernels/device/operators/basic_matmul.cpp " calls > /dev/null
operator NPUSIM_OPERATORS_DIR="$prefix/share/npusim/operators" | grep 'basic_matmul: key ' > /dev/null
for wrong in NPUSIM_OPERATORS_DIR NPUSIM_JIT_CXX; do
  if operator "$wrong=/nowhere" > /dev/null 2> error; then exit 1; fi
  grep -c . error | grep -x 1 > /dev/null
  grep -F /nowhere error > /dev/null
done
grep 'Apache License' "$prefix/share/doc/npusim/LICENSE" > /dev/null
mandoc -T utf8 "$prefix/share/man/man1/npusim.1" | grep npusim > /dev/null
for script in bash-completion/completions/npusim zsh/site-functions/_npusim; do
  grep 'completion words' "$prefix/share/$script" > /dev/null
done
env -i "$prefix/bin/npudemo" --backend sim --steps identity,dma --max-bytes 65536 | grep '2 ok, 0 failed' > /dev/null
