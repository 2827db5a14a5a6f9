#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every configuration key at both of its ends, with several workloads and chips.

usage: key_ends.py NPUSIM [--config NAME]... [--prefix TEXT] [--seconds N] [--random N --seed N]

With --random: so many runs of several keys at once, each at one of its ends or in between.

Each run must end with 0, 1 or 2, with one line on stderr if not 0, and with metrics that can be
true. What does not is printed, with the command that shows it. By hand: thousands of runs.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile

WORKLOADS = [
    "dma_latency --set sizes=64,4KiB,64KiB --set iterations=2",
    "dma_bandwidth --set sizes=4KiB,1MiB --set bytes=1MiB --set verify=64KiB",
    "queue_latency --set iterations=1",
    "vector_add --set elements=65536",
    "matmul --set m=256 --set n=256 --set k=256",
]
# Headings of `npusim config keys` and what --set calls them; others are lists of the topology.
PREFIXES = {
    "npusim.chip/1": "", "npusim.core/1": "core.", "npusim.hbm/1": "hbm.timings.",
    "npusim.host/1": "", "npusim.system/1": "",
}
IN_CORE = re.compile(r"(gm_to_l1|gm_to_ub|ub_to_gm|l0c_to_gm|l0c_to_l1|l0c_to_ub|cube|vector)\b")


def keys(npusim):
    """Pairs of key and list of values."""
    text = subprocess.run([npusim, "config", "keys"], capture_output=True, text=True, check=True)
    prefix = None
    for line in text.stdout.splitlines():
        if heading := re.match(r"## `([^`]*)`", line):
            name = heading[1]
            prefix = PREFIXES.get(name, "core." + name + "." if IN_CORE.match(name) else name + ".")
            if "[]" in name:
                prefix = None
        row = re.match(r"\| (\S+) \| (.*?) \|", line)
        if prefix is None or not row or row[1] in ("key", "name"):
            continue
        allowed = row[2]
        if limits := re.match(r"(0x[0-9a-f]+|\d+)\.\.(0x[0-9a-f]+|\d+)", allowed):
            yield prefix + row[1], [limits[1], limits[2]]
        elif "section" not in allowed and "file" not in allowed and "list" not in allowed:
            words = allowed.split(", ")
            if words[0][0].isdigit():
                words = [words[0], words[-1].split()[0]]
            yield prefix + row[1], words


def impossible(report):
    """What cannot be true of the metrics, if anything."""
    if report["simulated_ps"] <= 0:
        yield "no time passed"
    for metric in report["metrics"]:
        value = float(metric["value"])
        if value < 0:
            yield f"{metric['name']} is {value}"
        if metric["unit"] == "%" and value > 100.01 and "error" not in metric["name"]:
            yield f"{metric['name']} is {value} %"


def run(command, seconds):
    """What is wrong with a run: pairs of kind and detail."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        full = command + ["--report", report.name]
        try:
            done = subprocess.run(full, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            yield "SLOW", f"more than {seconds} s"
            return
        if done.returncode not in (0, 1, 2):
            yield "ENDED", f"with {done.returncode}: {done.stderr.strip()[:300]}"
        elif done.returncode != 0:
            if done.stderr.count("\n") != 1 or "internal error" in done.stderr:
                yield "LINES", done.stderr.strip()[:300]
            if done.returncode == 1:
                yield "FAILED", done.stderr.strip()[:300]
        else:
            for line in impossible(json.load(open(report.name))):
                yield "ABSURD", line


def every_run(options, configs):
    """Config, workload and settings of every run."""
    known = [each for each in keys(options.npusim) if each[0].startswith(options.prefix)]
    dice = random.Random(options.seed)
    for _ in range(options.random):
        settings = []
        for key, values in dice.sample(known, dice.randint(2, 5)):
            if values[0].isdigit() and dice.random() < 0.5:
                low, high = int(values[0]), int(values[1])
                # Powers of two are allowed everywhere.
                between = [1 << i for i in range(64) if low <= 1 << i <= high]
                values = [str(dice.choice(between or [low]))]
            settings.append(f"{key}={dice.choice(values)}")
        yield dice.choice(configs), dice.choice(WORKLOADS), settings
    if options.random:
        return
    for config in configs:
        for key, values in known:
            for value in values:
                for workload in WORKLOADS:
                    yield config, workload, [f"{key}={value}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("npusim")
    parser.add_argument("--config", action="append")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runs = found = 0
    configs = options.config or ["910b2.yaml", "950pr.yaml"]
    for config, workload, settings in every_run(options, configs):
        command = [options.npusim, "--config", config, "run", *workload.split()]
        for setting in settings:
            command += ["--set", setting]
        runs += 1
        for kind, what in run(command, options.seconds):
            found += kind != "FAILED"
            print(kind, what, "|", " ".join(command[1:]), flush=True)
    print(f"{runs} runs, {found} findings", flush=True)
    return 1 if found else 0


sys.exit(main())
