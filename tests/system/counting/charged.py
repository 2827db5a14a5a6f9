#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions that npusim charges against those that callgrind sees executed.

charged.py BUILD: each of the programs below runs twice: as it counts (what is charged), and in its
plain build under callgrind. What a program executes in the standard library is charged by a table,
and counted by callgrind with what it is called by. Fails where the two differ by more than 15 %.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

LIMIT_PERCENT = 15
HERE = os.path.dirname(os.path.abspath(__file__))

# The cores are so fast that what is counted takes next to no time: both runs are one sequence of
# events, and executed rounds of polling are the same.
FAST = ["aicpu.clock_mhz=10000", "aicpu_core.ipc_percent=1600", "core.scalar_ipc_percent=1600",
        "host.instructions=free"]
FREE = [*FAST, "firmware.instructions=free"]


def graph(path, *more):
    return ["run", "graph", "--set", f"graph={path}", "--set", "profiling=off",
            *[word for each in more for word in ("--set", each)]]


INDEPENDENT = os.path.join(HERE, "independent.yaml")
# What runs, its card's programs that are compared, and the counter that they are charged in.
RUNS = [
    ("independent", graph(INDEPENDENT, "parameters=length=900", "aicpu_thread_num=1")),
    ("chain", graph("chain", "parameters=length=200", "aicpu_thread_num=1")),
    ("paged_attention", graph("paged_attention", "parameters=batch=16,blocks=8",
                              "functional=false")),
]
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
    plain = os.path.join(folder, "plain")
    os.makedirs(plain, exist_ok=True)
    counted = next(name for name in os.listdir(os.path.join(build, "lib"))
                   if re.fullmatch(r"libnpudrv_counted\.so\.\d+", name))
    link = os.path.join(plain, counted)
    if not os.path.lexists(link):
        os.symlink(os.path.realpath(os.path.join(build, "lib", "libnpudrv.so")), link)
    environment = dict(os.environ, LD_LIBRARY_PATH=plain, NPU_PROGRAMS=os.path.join(build, "programs"),
                       LD_PRELOAD=os.path.join(build, "lib", "libnpu_named_programs.so"))
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *options,
                    *command], check=True, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
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
    for run, arguments in RUNS:
        charged = charged_counters(build, folder, arguments)
        npusim = [os.path.join(build, "bin", "npusim"), "--config", "910b2", *arguments,
                  *settings(FREE)]
        executed = under_callgrind(build, folder, npusim)
        for part, pattern, counter in PARTS:
            yield f"{part}, {run}", charged[counter], executed.of(pattern)
    for call, times in CALLS:
        command = [os.path.join(build, "bin", "npu_driver_calls"), call, str(times)]
        charged = float(subprocess.run(command, check=True, capture_output=True).stdout)
        executed = under_callgrind(build, folder, command, "--toggle-collect=npu_measured_call")
        yield f"{call}()", charged, executed.of(DRIVER)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        subprocess.run(["valgrind", "--version"], check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        print("NOT RUN: there is no valgrind")
        return
    build = os.path.abspath(sys.argv[1])
    bad = []
    print(f"{'':40} {'charged':>10} {'executed':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, charged, executed in rows(build, folder):
            percent = 100 * (charged / executed - 1) if executed else float("inf")
            print(f"{name:40} {charged:10.0f} {executed:10d} {percent:+7.1f} %")
            if abs(percent) > LIMIT_PERCENT:
                bad.append(name)
    if bad:
        sys.exit(f"more than {LIMIT_PERCENT} % apart: {', '.join(bad)}")


if __name__ == "__main__":
    main()
