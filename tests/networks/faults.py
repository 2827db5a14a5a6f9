#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small network with faults of the card at random instants.

faults.py NPUSIM [--config NAME] [--count N] [--seed N] [--jobs N] [-v]

Each run has one fault. It ends with right results; or with exit code 1 or 2 and one line that names a node,
an input, a result, or says that it happened before the network began. Anything else is a failure: wrong
results without a word, two lines, a signal, a run that takes a minute.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import whole

KINDS = ["poisoned_completion", "poisoned_completion,requester=host", "refused_completion,status=abort",
         "refused_completion,requester=host", "link_down", "link_down,for=5us", "function_level_reset",
         "bus_master_off", "memory_decode_off", "power_down", "hung_core,core={core}", "stuck_engine",
         "hung_core,core={core},for=50us", "hung_aicpu", "hung_aicpu,for=50us",
         "memory_error,bits=2,address={address}", "dropped_tlp",
         "dropped_tlp,error=malformed", "lost_interrupt", "iommu_fault", "lost_completion",
         "memory_error,bits=1,address={address}", "bad_tlp", "link_retrained,lanes=4,for=100us"]
# What names where it happened.
PLACE = r"([A-Z][A-Za-z]+|input|result|constant) '[^']+'"
NAMED = re.compile(rf"{PLACE}(, found at {PLACE}| or before it)?: |constants: |"
                   r"(before the network began|behind the network's end): ")


def small():
    """Products, kernels of vector cores, AICPU programs, and a result that the host reads midway."""
    net = whole.Network(11)
    x = net.input(64, 512)
    for _ in range(2):
        x = net.layer_norm(net.unary("Softsign", net.linear(x, 512, 512)), 512)
    angle = net.node("Sin", [x], whole.np.sin(net.values[x]))
    return net, net.binary("Add", angle, net.softmax(x))


def simulate(npusim, config, model, faults=()):
    command = [npusim, "--config", config, "onnx", str(model), "--set", "l2.size_mib=3"]
    for fault in faults:
        command += ["--fault", fault]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60)


def judge(done):
    """What became of it, and whether that is a failure."""
    lines = done.stderr.strip().splitlines()
    if done.returncode == 0:
        right = re.search(r"results compared", done.stdout) and "are not compared" not in done.stdout
        return "right", not right
    if done.returncode not in (1, 2) or len(lines) != 1 or "wrong data" in lines[0]:
        return f"exit code {done.returncode}: {' / '.join(lines[-3:])}", True
    return lines[0], NAMED.search(lines[0]) is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npusim")
    parser.add_argument("--config", default="910b2")
    parser.add_argument("--count", type=int, default=33)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-v", dest="tells", action="store_true")
    options = parser.parse_args()
    source = random.Random(options.seed)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        net, output = small()
        net.save(folder, output)
        clean = simulate(options.npusim, options.config, folder / "model.onnx")
        if clean.returncode != 0:
            sys.exit(f"faults.py: without a fault: {clean.stderr}")
        length = float(re.search(r"([\d.]+) us simulated", clean.stdout).group(1))

        def run(fault):
            try:
                return judge(simulate(options.npusim, options.config, folder / "model.onnx", [fault]))
            except subprocess.TimeoutExpired:
                return "does not end", True

        # By turns: each kind has its share of the instants.
        faults = [KINDS[i % len(KINDS)].format(core=source.randrange(8), address=source.randrange(2**22, 2**23) & ~63)
                  + f",at={source.uniform(0, length):.3f}us" for i in range(options.count)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for fault, (what, failed) in zip(faults, pool.map(run, faults)):
                counts["failed" if failed else "right" if what == "right" else "told"] += 1
                if failed or options.tells:
                    print(f"{'FAILED ' if failed else ''}{fault}: {what}", flush=True)
    print(f"{counts['right']} right, {counts['told']} told, {counts['failed']} failed")
    return int(counts["failed"] != 0 or counts["told"] == 0)


if __name__ == "__main__":
    sys.exit(main())
