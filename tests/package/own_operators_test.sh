#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_operators_test.sh PREFIX EXAMPLES PYTHON: operators of a folder outside are called from the
# command line, by the C API and from Python, with the installed package alone.
source "$(dirname "$0")/programs.sh"
python=$3
cp "$2"/* .
export NPUSIM_OPERATORS_PATH=$folder NPUSIM_JIT_CACHE_DIR=$folder/cache
npusim=$prefix/bin/npusim
in_one_line() { tr -s '\n ' ' '; }
"$npusim" operators swi_glu_quant | grep -Fx "  results  y [rows, columns / 2] int8, scales [rows] float32"
for config in 910b2 950pr; do
  for shape in 1,2 7,100 64,1024 333,34 0,16 3,0; do
    for name in rms_norm_plus_one swi_glu_quant; do
      "$npusim" --config $config run operator --set name=$name --set shape=$shape --set dtype=bfloat16 \
        --set cache=folder | in_one_line | grep -F "every element compared" > /dev/null
    done
  done
done
# A reference that says something else is noticed.
sed 's/(1 + inputs\[1\]\[i\])/(2 + inputs[1][i])/; s/rms_norm_plus_one/other/' rms_norm_plus_one.cpp > other.cpp
sed 's/rms_norm_plus_one/other/' rms_norm_plus_one.yaml > other.yaml
if "$npusim" --config 910b2 run operator --set name=other --set shape=4,32 > /dev/null 2> errors; then exit 1; fi
grep -F "element 0 of 128 is" errors > /dev/null
# One without a reference says so; a compiler's error names the file.
sed -i '/^NPU_REFERENCE/d; /^void reference/,/^}/d' other.cpp
"$npusim" --config 910b2 run operator --set name=other --set shape=4,32 | in_one_line |
  grep -F "not compared: the source has no NPU_REFERENCE" > /dev/null
sed -i 's/load_weight();/load_wait();/' other.cpp
code=0
"$npusim" --config 910b2 run operator --set name=other --set shape=4,32 > /dev/null 2> errors || code=$?
[[ $code == 2 ]] && grep "other.cpp:[0-9]*: error: .*load_wait" errors > /dev/null

# changed SED CODE TEXT [SETTING]...: the example with another source is refused in one line.
changed() {
  local code=0 settings=() setting
  sed "s/rms_norm_plus_one/other/; $1" rms_norm_plus_one.cpp > other.cpp
  if cmp -s other.cpp rms_norm_plus_one.cpp && [[ $1 ]]; then echo "nothing has changed: $1"; exit 1; fi
  for setting in "${@:4}"; do settings+=(--set "$setting"); done
  "$npusim" --config 910b2 run operator --set name=other --set shape=4,32 "${settings[@]}" > /dev/null 2> errors || code=$?
  if [[ $code != "$2" || $(wc -l < errors) != 1 ]] || ! grep -F -- "$3" errors > /dev/null; then
    echo "$1 ${*:4}: code $code, not $2 and '$3':"
    cat errors
    exit 1
  fi
}
changed 's/(1 + inputs\[1\]\[i\])/NAN/' 1 'expected nan'
changed 's/(1 + inputs\[1\]\[i\])/INFINITY/' 1 'expected '
changed '/^void reference(/,/{$/s/{$/{ throw 7;/' 2 'other.cpp: the reference has thrown int'
changed '/^NPU_OPERATOR/,/)$/d' 2 'other.cpp: NPU_OPERATOR is missing'
changed '/^void reference(/,/{$/s/{$/{ *static_cast<volatile int*>(nullptr) = 1;/' 1 'the reference of an operator followed a pointer to 0x0'
changed 's/^  Work work;/  __builtin_trap();\n&/' 1 "the host's function of an operator has an instruction that the host does not know"
changed 's/#include <cmath>/&\n#include <cstdlib>/; s/^  Work work;/  std::abort();\n&/' 1 "the host's function of an operator gave up by abort()"
changed '1,$d' 2 'other.cpp: NPU_OPERATOR is missing'
changed 's/^void host(/void nowhere(int);\n&/; s/^  Work work;/  nowhere(1);\n&/' 2 'other.cpp: undefined: npu::kernels::'
changed 's/^  Work work;/  throw 1;\n&/' 2 "other.cpp: the host's function has thrown int"
changed 's/#include <cmath>/&\n#include <stdexcept>/; s/^  Work work;/  throw std::runtime_error("x");\n&/' 2 "has thrown std::runtime_error: x"
changed 's/^  Work work;/  return stream.refuse(nullptr);\n&/' 2 'the operator refuses, and does not say why'
changed '' 2 'y: float32; the operator has float16' out_dtype=float32
changed '' 2 "epsilon: found 'small'; allowed: a number" epsilon=small
# What the host's function is given is what the reference is given.
sed 's/rms_norm_plus_one/other/' rms_norm_plus_one.cpp > other.cpp
"$npusim" --config 910b2 run operator --set name=other --set shape=4,32 --set epsilon=0.5 | in_one_line |
  grep -F "every element compared" > /dev/null
# A kernel that never ends is ended by the second signal.
sed 's/  port.pipe_barrier(Pipe::kAll);/  for (volatile int i = 0;;) i = 1;/' rms_norm_plus_one.cpp > other.cpp
"$python" - "$npusim" << 'END'
import pathlib, signal, subprocess, sys, time
command = [sys.argv[1], "--config", "910b2", "run", "operator", "--set", "name=other", "--set", "shape=4,32"]
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's jobs in the background ignore it
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    stat, children = (pathlib.Path(f"/proc/{process.pid}") / name for name in ("stat", f"task/{process.pid}/children"))
    busy, deadline = None, time.monotonic() + 300
    while time.monotonic() < deadline:  # until it computes without a compiler
        ticks = int(stat.read_text().rsplit(")", 1)[1].split()[11])
        if children.read_text().split():
            busy = ticks
        elif busy is not None and ticks - busy > 200:
            break
        time.sleep(0.1)
    process.send_signal(number)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(30) == -number, process.returncode
END
rm other.*
# What pages of an installation name is there.
[[ -f $prefix/share/npusim/operators/kernels/device/README.md ]]

c_program check.c check -std=c11 -lascendcl -lm
for config in 910b2 950pr; do
  "$npusim" --config $config exec --report $config.json -- ./check | grep -x right > /dev/null
  "$npusim" --config $config exec --report again.json -- ./check > /dev/null
  cmp $config.json again.json
done
c_program "$(dirname "$0")/acl/own_operator.c" own_operator -lascendcl
"$npusim" --config 910b2 exec -- ./own_operator | grep -x right > /dev/null
PYTHONPATH=$prefix/lib/python3/dist-packages "$python" check.py 910b2 | grep '^right'
