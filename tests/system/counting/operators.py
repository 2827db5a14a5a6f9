#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled on demand take time for their instructions, unless they are free or
another compiler than npusim's has made them; the report says which."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
# The firmware's own instructions are counted with another compiler and free without, so the kernel
# begins at another moment of the HBM's clocks: a few of 1.25 ns. Refreshes, which it would meet at
# other places, are as rare as they can be.
OTHER_BEGINNING_US = 0.01
RARE = ["--set", "hbm.timings.trefi_clocks=100000", "--set", "hbm.timings.trefi_pb_clocks=100000"]
SHAPES = {"basic_matmul": "33,17,65", "softmax": "7,300", "elementwise": "5000"}


def run(name, instructions, compiler, folder):
    """The kernel's duration, and whether the report says that its instructions are counted."""
    report = os.path.join(folder, "report.json")
    environment = dict(os.environ, NPUSIM_JIT_CXX=compiler)
    command = [BUILD + "/bin/npusim", "--config", "910b2", "run", "operator",
               "--set", "name=" + name, "--set", "shape=" + SHAPES[name],
               "--set", "firmware.instructions=" + instructions, "--report", report] + RARE
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as file:
        found = json.load(file)
    counted = "the kernel's instructions are counted" in found["notes"]
    values = {metric["name"]: metric["value"] for metric in found["metrics"]}
    return values["operator.device_us"], counted


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        # Another name, and so another compiler as far as npusim can tell.
        other = os.path.join(folder, "other")
        os.symlink(os.path.realpath(shutil.which("c++")), other)
        for name in SHAPES:
            counted, free = run(name, "counted", "", folder), run(name, "free", "", folder)
            foreign = run(name, "counted", other, folder)
            print(f"{name}: counted {counted}, free {free}, of another compiler {foreign}")
            failed |= not (counted[1] and counted[0] > free[0] + 10 * OTHER_BEGINNING_US)
            failed |= free[1] or foreign[1] or abs(foreign[0] - free[0]) > OTHER_BEGINNING_US
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
