#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions that npusim charges against those that callgrind sees executed.

charged.py BUILD [--update]: each of the programs below runs twice: as it counts (what is charged),
and in its plain build under callgrind. What a program executes in the standard library is charged by
a table, and counted by callgrind with what it is called by. Fails where the two differ by more than
15 %, and where docs/accuracy.md shows something else than what is charged now: a loop, a copy or a
string more is seen there. --update writes it there.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import plain_driver

LIMIT_PERCENT, PAGE_PERCENT = 15, 0.1
HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "accuracy.md")
BEGIN, END = "<!-- instructions -->\n", "<!-- end of instructions -->"

# The cores are so fast that what is counted takes next to no time: both runs are one sequence of
# events, and executed rounds of polling are the same.
FAST = ["aicpu.clock_mhz=10000", "aicpu_core.ipc_percent=1600", "core.scalar_ipc_percent=1600",
        "cpu.clock_mhz=10000", "cpu.ipc_percent=1600"]
FREE = [*FAST, "firmware.instructions=free", "host.instructions=free"]


def graph(path, *more):
    return ["run", "graph", "--set", f"graph={path}", "--set", "profiling=off",
            *[word for each in more for word in ("--set", each)]]


INDEPENDENT = os.path.join(HERE, "independent.yaml")
# What runs, and its tasks.
RUNS = [
    ("independent tasks", 900, graph(INDEPENDENT, "parameters=length=900", "aicpu_thread_num=1")),
    ("chain", 200, graph("chain", "parameters=length=200", "aicpu_thread_num=1")),
    ("paged attention", 512, graph("paged_attention", "parameters=batch=16,blocks=8",
                                   "functional=false")),
]
# Programs of the card, and the counter that they are charged in.
PARTS = [
    ("scheduler", re.compile(r"/scheduler\.npu$"), "card0.aicpus.instructions"),
    ("executor and kernels", re.compile(r"/(?!scheduler)\w+\.npu$"),
     "card0.cores.scalar_instructions"),
]
CALLS = [("submit", 200), ("wait", 200), ("allocate", 200)]
DRIVER = re.compile(r"/libnpudrv\.so\.[\d.]+$")
LIBRARY = re.compile(r"/lib(c|m|stdc\+\+|gcc_s|crypto)\.so[\d.]*$")


class Executed:
    """Self cost of a callgrind profile by object, with what each calls in libraries."""

    POSITION = re.compile(r"(?:0x[0-9a-f]+|[+-]?\d+|\*) (\d+)$")
    NAMED = re.compile(r"(c?ob)=\((\d+)\)(?: (.*))?$")

    def __init__(self, path):
        self.cost = collections.Counter()
        objects, here, callee = {}, None, None
        called = False
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                line = line.rstrip("\n")
                named = self.NAMED.match(line)
                if named:
                    kind, number, name = named.groups()
                    if name:
                        objects[number] = name
                    if kind == "ob":
                        here = objects[number]
                    else:
                        callee = objects[number]
                elif line.startswith("cfn=") and callee is None:
                    callee = here  # of the same object
                elif line.startswith("calls="):
                    called = True
                else:
                    position = self.POSITION.match(line)
                    if not position:
                        continue
                    if not called:
                        self.cost[here] += int(position[1])
                    elif callee and callee != here and LIBRARY.search(callee):
                        self.cost[here] += int(position[1])
                    if called:
                        called, callee = False, None

    def of(self, pattern):
        return sum(cost for name, cost in self.cost.items() if name and pattern.search(name))


def under_callgrind(build, folder, command, *options):
    """Of `command`, with the plain driver in place of the one that counts."""
    profile = os.path.join(folder, "profile")
    variables = plain_driver.environment(build, folder)
    variables["NPU_PROGRAMS"] = os.path.join(build, "programs")
    variables["LD_PRELOAD"] = os.path.join(build, "lib", "libnpu_named_programs.so")
    plain_driver.call(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *options,
                       *command], variables)
    return Executed(profile)


def settings(keys):
    return [word for key in keys for word in ("--set", key)]


def charged_counters(build, folder, arguments):
    report = os.path.join(folder, "report.json")
    subprocess.run([os.path.join(build, "bin", "npusim"), "--config", "910b2", *arguments,
                    *settings(FAST), "--report", report], check=True, stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as file:
        return {each["name"]: float(each["value"]) for each in json.load(file)["counters"]}


def rows(build, folder):
    """Name, charged, executed (None: not compared), and tasks or calls."""
    for run, tasks, arguments in RUNS:
        charged = charged_counters(build, folder, arguments)
        npusim = [os.path.join(build, "bin", "npusim"), "--config", "910b2", *arguments,
                  *settings(FREE)]
        executed = under_callgrind(build, folder, npusim)
        for part, pattern, counter in PARTS:
            yield f"{part}, per task of {run}", charged[counter], executed.of(pattern), tasks
        # SHA-256 of images is charged as processors with instructions for it need.
        yield f"driver in all, per task of {run}", charged["host.instructions"], None, tasks
    for call, times in CALLS:
        command = [os.path.join(build, "bin", "npu_driver_calls"), call, str(times)]
        charged = float(subprocess.run(command, check=True, capture_output=True).stdout)
        executed = under_callgrind(build, folder, command, "--toggle-collect=npu_measured_call")
        yield f"driver, per {call}()", charged, executed.of(DRIVER), times


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def shown():
    """What the page says is charged, by name."""
    table = page().partition(BEGIN)[2].partition(END)[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {each[0]: float(each[1]) for each in cells}


def update(found):
    lines = ["| instructions | charged | executed |", "|---|---|---|"]
    for name, charged, executed, times in found:
        seen = "not compared" if executed is None else f"{executed / times:.1f}"
        lines.append(f"| {name} | {charged / times:.1f} | {seen} |")
    before, _, rest = page().partition(BEGIN)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--update"]):
        sys.exit(__doc__)
    try:
        subprocess.run(["valgrind", "--version"], check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        print("NOT RUN: there is no valgrind")
        return
    build = os.path.abspath(sys.argv[1])
    bad, found = [], []
    known = {} if sys.argv[2:] else shown()
    print(f"{'':50} {'charged':>9} {'executed':>9} {'shown':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(build, folder):
            found.append(row)
            name, charged, executed, times = row
            line = f"{name:50} {charged / times:9.1f}"
            if executed is not None:
                line += f" {executed / times:9.1f}"
                if not executed or abs(charged / executed - 1) > LIMIT_PERCENT / 100:
                    bad.append(f"{name}: more than {LIMIT_PERCENT} % from what is executed")
            if not sys.argv[2:]:
                line += f" {known.get(name, 0):9.1f}"
                if abs(known.get(name, 0) * times / charged - 1) > PAGE_PERCENT / 100:
                    bad.append(f"{name}: docs/accuracy.md shows {known.get(name, 0)}")
            print(line)
    if sys.argv[2:]:
        update(found)
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
