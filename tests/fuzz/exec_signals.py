#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals at random instants into programs of threads that call everything.

usage: tests/fuzz/exec_signals.py NPUSIM VICTIM [--seeds N] [--first S]

A victim of the seed runs without signals, and again with them: from timers of its own, and from
outside to any of its threads, to handlers that restart nothing. Simulated time knows nothing of it:
the two reports are the same, byte for byte.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

LONGEST = 600  # s: nothing hangs
SIGNALS = (signal.SIGUSR1, signal.SIGURG, signal.SIGCHLD, signal.SIGPROF, signal.SIGALRM)


def run(options, seed, report, period):
    variables = dict(os.environ)
    if period:
        variables["VICTIM_SIGNALS"] = str(period)
    return subprocess.Popen([options.npusim, "--config", "910b2", "exec", "--report", report, "--",
                             options.victim, str(seed), "return"], env=variables, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def threads_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    if not children:
        return []
    return [int(each) for each in os.listdir(f"/proc/{children[0]}/task")]


def shoot(process, chance, ends):
    """Not before the victim has its handlers, which a thread of its tells by ignoring nothing."""
    while not ends.wait(chance.uniform(0, 0.004)):
        try:
            for thread in threads_of(process):
                status = pathlib.Path(f"/proc/{thread}/status").read_text()
                caught = int(status.split("SigCgt:")[1].split()[0], 16)
                number = chance.choice(SIGNALS)
                if caught >> (number - 1) & 1 and chance.random() < 0.5:
                    os.kill(thread, number)
        except (OSError, IndexError):
            time.sleep(0.001)  # it begins, or ends


def finish(process):
    try:
        output, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        return "it hangs"
    return None if process.returncode == 0 and "right" in output else output


def attempt(options, folder, seed):
    chance = random.Random(seed)
    reports = [f"{folder}/{i}.json" for i in range(2)]
    found = finish(run(options, seed, reports[0], 0))
    if found:
        return f"without signals: {found}"
    process = run(options, seed, reports[1], chance.choice([150, 300, 1000, 7000]))
    ends = threading.Event()
    gun = threading.Thread(target=shoot, args=(process, chance, ends))
    gun.start()
    found = finish(process)
    ends.set()
    gun.join()
    if found:
        return f"with signals: {found}"
    first, second = (pathlib.Path(report).read_bytes() for report in reports)
    return None if first == second else "two reports"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npusim")
    parser.add_argument("victim")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", default=None, help="a folder for the reports")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.seeds):
            found = attempt(options, options.keep or folder, seed)
            if found:
                print(f"seed {seed}: {found}")
                return 1
    print(f"{options.seeds} seeds, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
