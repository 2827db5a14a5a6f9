#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals at random instants of runs that write all that they can.

usage: signal_instants.py NPUSIM [--rounds N] [--seed N]

A run gets one or two of SIGINT, SIGTERM and SIGHUP, some after a stop and going on. Whenever they
come: it ends, with 0 and complete files, with 128 and the first signal's number and files that say
"interrupted", or by the signal itself and then with whole files or none. When a signal hits is
chance; what has to hold does not depend on it.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUNS = {
    "first_tensor": [],
    "dma_latency": ["sizes=64,1MiB"],
    "dma_bandwidth": ["sizes=1MiB,16MiB"],
    "ring_pressure": ["commands=200000", "cell=64"],
    "alloc_churn": ["steps=20000"],
    "compaction": [],
    "queue_latency": [],
    "matmul": [],
    "matmul_kernel": ["m=256", "n=256", "k=256"],
    "vector_add": [],
    "graph": [],
    "event_wait": [],
}
FILES = {"report": "r.json", "html": "r.html", "trace": "t.json", "vcd": "t.vcd", "config-out": "c.yaml"}
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 120  # seconds; only against runs that hang


class Wrong(Exception):
    pass


def outcome(folder, name):
    """What the file says of the run; None: there is no file."""
    path = folder / FILES[name]
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8")
    if name == "report":
        return json.loads(text)["outcome"]
    if name == "trace":
        return json.loads(text)["otherData"]["outcome"]
    if name == "html":
        if not text.rstrip().endswith("</html>"):
            raise Wrong("the page is not whole")
        return re.search(r'"outcome": ?"([a-z]+)', text)[1]
    if "$enddefinitions $end\n" not in text or not text.endswith("\n"):
        raise Wrong("the VCD is not whole")
    return "interrupted" if "$comment not complete: interrupted $end" in text else "complete"


def check(code, sent, folder, errors):
    said = {name: outcome(folder, name) for name in FILES if name != "config-out"}
    extra = set(os.listdir(folder)) - set(FILES.values()) - {"out", "err"}
    if extra:
        raise Wrong(f"left over: {sorted(extra)}")
    if code == 0:
        expected = {"complete"}
    elif code - 128 in sent:
        expected = {"interrupted"}
        if f"interrupted by {signal.Signals(code - 128).name} after " not in errors:
            raise Wrong(f"does not say so: {errors}")
    elif -code in sent:  # by the signal itself: before there was something to tell, or the second
        expected = {"interrupted", "complete", None}
    else:
        raise Wrong(f"exit code {code}: {errors[-300:]}")
    if not set(said.values()) <= expected:
        raise Wrong(f"exit code {code}, but the files say {said}")


def play(npusim, name, chance, folder):
    """One run; what was sent, and the exit code."""
    command = [npusim, "--config", "910b2", "run", name, "--profile"]
    for each in RUNS[name]:
        command += ["--set", each]
    for option, file in FILES.items():
        command += ["--" + option, file]
    with open(folder / "out", "w", encoding="utf-8") as out, \
            open(folder / "err", "w", encoding="utf-8") as err:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err)
        sent = []
        for _ in range(chance.choice((1, 1, 2))):
            time.sleep(chance.choice((0, 0.01, 0.1, 0.4, 1.5)) * chance.random())
            if chance.random() < 0.2:
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.02)
                process.send_signal(signal.SIGCONT)
            sent.append(chance.choice(ENDS))
            process.send_signal(sent[-1])
        try:
            return sent, process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Wrong(f"hangs after {sent}") from None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("npusim")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for each in ENDS:
        signal.signal(each, signal.SIG_DFL)  # what is ignored here would be in the runs, too
    chance = random.Random(options.seed)
    codes = {}
    for number in range(options.rounds):
        name = chance.choice(sorted(RUNS))
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            sent, code = play(os.path.abspath(options.npusim), name, chance, folder)
            codes[code] = codes.get(code, 0) + 1
            check(code, sent, folder, (folder / "err").read_text(encoding="utf-8"))
        except (Wrong, ValueError, KeyError) as error:
            print(f"round {number}, {name}: {error}; see {folder}")
            return 1
        shutil.rmtree(folder)
    print(f"{options.rounds} rounds, exit codes {dict(sorted(codes.items()))}: no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
