#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver that counts its instructions does what the plain one does.

same_accesses.py BUILD: runs workloads with either driver, neither of which is charged for what it
executes, and compares their whole timelines and reports byte by byte.
"""
import os
import sys
import tempfile

import plain_driver

RUNS = [
    ["dma_latency", "--set", "policy=interrupt", "--set", "sizes=64,1048576"],
    ["queue_latency"],
    ["alloc_churn", "--set", "steps=100"],
    ["first_tensor"],
    ["graph", "--set", "graph=matmul_diamond"],
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    npusim = os.path.join(build, "bin", "npusim")
    different = []
    with tempfile.TemporaryDirectory() as folder:
        plain = plain_driver.environment(build, folder)
        for run in RUNS:
            seen = []
            for name, environment in (("counted", dict(os.environ)), ("plain", plain)):
                files = [os.path.join(folder, f"{name}.{kind}.json") for kind in ("trace", "report")]
                plain_driver.call([npusim, "--config", "910b2", "run", *run,
                                   "--set", "host.instructions=free",
                                   "--set", "firmware.instructions=free",
                                   "--trace", files[0], "--report", files[1]], environment)
                seen.append([open(file, "rb").read() for file in files])
            # What the plain driver executes is not known, and its report has no figure of it.
            traces = [each[0] for each in seen]
            print(f"{run[0]:16} {len(traces[0]):9} bytes of timeline")
            if traces[0] != traces[1] or len(traces[0]) < 1000:
                different.append(run[0])
    if different:
        sys.exit(f"different timelines: {', '.join(different)}")


if __name__ == "__main__":
    main()
