#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under `npusim exec` that end, however and whenever.

usage: tests/fuzz/exec_ends.py NPUSIM VICTIM NEIGHBOUR [--seeds N] [--first S]

With each seed a victim ends in one way of its own, at a call of its own, beside two neighbours. They
must be right, everything must be given back, and a second run must give the same report. Then a
victim is killed, or stopped and told to go on, from outside, at an instant of this machine's clock:
neighbours must be right then, too, and everything given back.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ENDS = {"return": 0, "kill": 137, "abort": 134, "segfault": 139, "exit": 7, "child": 0}
LONGEST = 600  # s: nothing hangs


class Finding(Exception):
    pass


def command(options, report, seed, end):
    return [options.npusim, "--config", "910b2", "exec", "--report", report, "--", options.victim,
            str(seed), end, ":::", options.neighbour, "2", ":::", options.neighbour, "3"]


def check(report, output, rights):
    if output.count("right") != rights:
        raise Finding(f"{output.count('right')} of {rights} programs are right:\n{output}")
    metrics = {each["name"]: each for each in json.loads(pathlib.Path(report).read_text())["metrics"]}
    left = metrics["exec.memory_left_bytes"]["value"]
    if float(left) != 0:
        raise Finding(f"{left} bytes were not given back")


def finish(process, code):
    try:
        output, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired as late:
        process.kill()
        raise Finding("it hangs") from late
    if process.returncode not in code:
        raise Finding(f"exit code {process.returncode}, expected {code}:\n{output}")
    return output


def start(words):
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def from_inside(options, folder, seed):
    end = sorted(ENDS)[seed % len(ENDS)]
    reports = [f"{folder}/{i}.json" for i in range(2)]
    for report in reports:
        output = finish(start(command(options, report, seed, end)), [ENDS[end]])
        check(report, output, 2 + (ENDS[end] == 0))
    first, second = (pathlib.Path(report).read_bytes() for report in reports)
    if first != second:
        raise Finding(f"{end}: two runs, two reports")
    return end


def children_of(process):
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(word) for word in path.read_text().split()]


def from_outside(options, folder, seed):
    """The first child is the victim."""
    chance = random.Random(seed)
    report = f"{folder}/outside.json"
    process = start(command(options, report, seed, "return"))
    time.sleep(chance.uniform(0, 0.4))
    stops = chance.random() < 0.5
    try:
        victim = children_of(process)[0]
        os.kill(victim, signal.SIGSTOP if stops else signal.SIGKILL)
        if stops:
            time.sleep(chance.uniform(0, 0.2))
            os.kill(victim, signal.SIGCONT)
    except (IndexError, OSError):
        stops = True  # it has not begun, or has ended
    output = finish(process, [0] if stops else [0, 137])
    check(report, output, output.count("right") if not stops and output.count("right") >= 2 else 3)
    return "stop" if stops else "kill from outside"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npusim")
    parser.add_argument("victim")
    parser.add_argument("neighbour")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.seeds):
            for attempt in (from_inside, from_outside):
                try:
                    attempt(options, folder, seed)
                except Finding as finding:
                    print(f"seed {seed}, {attempt.__name__}: {finding}")
                    return 1
    print(f"{options.seeds} seeds, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
