#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_test.sh PYTHON PREFIX: the installed package in an empty folder, with the installed
# configurations, firmware, kernels and operators and nothing of the checkout.
set -euo pipefail
python=$1 prefix=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
env -i PATH=/usr/bin:/bin PYTHONPATH="$prefix/lib/python3/dist-packages" "$python" -B -c '
import sys
import numpy
import npusim
simulator = npusim.Simulator("910b")
device = simulator.device(0)
device.register_kernel(0, "empty")
graph = npusim.Graph()
graph.add(0, shape="aic")
assert device.run(graph)["result"]["completed"] == 1
assert (npusim.ops.elementwise("a + a", numpy.ones(3, "float32")) == 2).all()
assert device.upload(b"hello").read() == b"hello"
for path in (npusim.__file__, npusim.host_library(), npusim.program_path("scheduler")):
    assert path.startswith(sys.argv[1]), path
print(simulator.now, "ps")
' "$prefix" | grep -E '^[0-9]+ ps$'
