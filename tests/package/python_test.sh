#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_test.sh PYTHON PREFIX: the installed package in an empty folder, with the installed
# configurations, firmware, kernels and operators and nothing of the checkout.
source "$(dirname "$0")/../support/in_folder.sh"
python=$1 prefix=$2
env -i PATH=/usr/bin:/bin NPUSIM_JIT_CACHE_DIR="$folder/cache" PYTHONPATH="$prefix/lib/python3/dist-packages" "$python" -B -c '
import sys
import numpy
import npusim
simulator = npusim.Simulator("910b")
device = simulator.device(0)
device.register_kernel(0, "empty")
graph = npusim.Graph()
graph.add(0, shape="aic")
assert device.run(graph)["result"]["completed"] == 1
ones = numpy.ones((3, 3), "float32")
assert (npusim.ops.elementwise("a + a", ones) == 2).all()
assert (npusim.ops.basic_matmul(ones, ones, "float32", formatB=True) == 3).all()
assert npusim.ops.last_call()["origin"] == "compiled" and not npusim.ops.last_call()["warnings"]
assert device.upload(b"hello").read() == b"hello"
for path in (npusim.__file__, npusim.host_library(), npusim.program_path("scheduler")):
    assert path.startswith(sys.argv[1]), path
print(simulator.now, "ps")
' "$prefix" | grep -E '^[0-9]+ ps$'
# Scene tests, from a copy of the example, with the kernels' headers of the installation.
cp -r "$prefix/share/doc/npusim/examples/scene-tests" scenes
env -i PATH=/usr/bin:/bin NPUSIM_JIT_CACHE_DIR="$folder/cache" PYTHONPATH="$prefix/lib/python3/dist-packages" \
  "$python" -B -m pytest -q -p no:cacheprovider scenes | grep -x '4 passed in .*'
env -i PATH=/usr/bin:/bin PYTHONPATH="$prefix/lib/python3/dist-packages" "$python" -B -c '
import npusim, simpler.task_interface, simpler.worker, simpler_setup
assert simpler.task_interface.ChipWorker is npusim.ChipWorker
assert simpler_setup.RuntimeBuilder("a5").get_binaries().aicore_path.is_file()'
test -f "$prefix/include/npu/driver/runtime_names.h"
# The next process finds the kernels; templates of others are others.
operator='
import sys
import numpy
import npusim
simulator = npusim.Simulator("910b")
try:
    npusim.ops.elementwise("a + a", numpy.ones(3, "float32"))
    print(npusim.ops.last_call()["origin"])
except npusim.Error as error:
    print(error)
'
run() { env -i PATH=/usr/bin:/bin NPUSIM_JIT_CACHE_DIR="$folder/cache" PYTHONPATH="$prefix/lib/python3/dist-packages" "$@" "$python" -B -c "$operator"; }
run | grep -x disk
mkdir own
cp -r "$prefix/share/npusim/operators/kernels" "$prefix/include" own
echo '// other' >> own/kernels/device/operators/elementwise.cpp
run NPUSIM_OPERATORS_DIR="$folder/own" | grep -x compiled
run NPUSIM_OPERATORS_DIR=/nowhere | grep 'no templates of operators in /nowhere'
run NPUSIM_JIT_CXX=/nowhere | grep '/nowhere'
