#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of every workload at both of its ends and beyond them.

usage: parameter_ends.py NPUSIM [--config NAME]... [--workload NAME]... [--seconds N] [--gib N]
                         [--random N --seed N]

With --random: so many runs of several parameters at once, each at an end or in between.

A run must end with 0, or with one line of at most 400 characters on stderr and 2, or 1 if the line
names a fault of the modelled machine. Beyond its range a parameter must be refused at once. A run
may have --gib of memory and must know before it begins if it needs more. What takes more than
--seconds is given SIGINT and must end then. What does not is printed, with the command that shows it.
"""
import argparse
import concurrent.futures
import random
import re
import resource
import signal
import subprocess
import sys

# Small and quick, so that what is seen is the parameter at its end.
SMALL = {
    "first_tensor": "rows=64 columns=64",
    "dma_latency": "sizes=64,4KiB iterations=1",
    "dma_bandwidth": "sizes=64KiB depths=4 streams=2 bytes=256KiB verify=64KiB",
    "p2p_bandwidth": "sizes=16KiB bytes=64KiB patterns=one_way",
    "collective": "sizes=16KiB iterations=1",
    "moe_exchange": "tokens=2 hidden=64 experts=8 chosen=2 iterations=1",
    "ring_pressure": "commands=2000",
    "soak": "commands=2000 faults=3",
    "event_wait": "targets=5 streams=2 iterations=2 warm_up=1",
    "alloc_churn": "steps=200",
    "bar0_trap": "streams=8",
    "compaction": "running_bytes=128MiB rounds=20",
    "host_memory": "sizes=4KiB copiers=2 bytes=64KiB",
    "tlb_sweep": "footprints=64MiB strides=2MiB warm_up=64 accesses=64",
    "vmm_map": "sizes=2MiB,16MiB spaces=2",
    "hbm_replay": "tools=card patterns=seq_rd outstanding=8 requests=1000",
    "queue_latency": "kinds=nop,fill iterations=1",
    "queue_scaling": "queues=4 entries=4",
    "queue_oversubscription": "queues=5 entries=4",
    "queue_isolation": "entries=4",
    "stream_overlap": "rounds=2 size=64KiB",
    "dispatch_latency": "tasks=8",
    "matmul": "m=64 n=64 k=64",
    "matmul_kernel": "m=64 n=64 k=64",
    "vector_add": "elements=4096",
    "vector_operator": "elements=4096",
    "operator": "shape=33,17,65",
}
FAULT = re.compile(r"device fault|timeout: .*watchdog|queue full")
NO_ESTIMATE = "this machine gives the process no more memory"
LINE = re.compile(r"    (\w+)=(.*?)  .*\((integer|size|on\|off|choice|list of \w+|text)(?:, (.*))?\)$")
WORDS = {"graph": ["vector_diamond", "", "/dev/null", "x" * 3000], "parameters": ["", "=", "x" * 3000],
         "dump_tensors": ["", "/dev/null", "/nowhere/file"]}


class Parameter:
    """Values that are allowed, and some that are not."""

    def __init__(self, name, kind, rest):
        self.name, self.low, self.high = name, None, None
        self.beyond = ["", "-1", "x" * 3000]
        if kind == "text":
            self.values, self.beyond = WORDS.get(name, ["", "=", "/dev/null", "x" * 3000]), []
        elif limits := re.search(r"(\d+)(\w*)\.\.(\d+)(\w*)$", rest or ""):
            scale = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
            self.low = int(limits[1]) * scale[limits[2]]
            self.high = int(limits[3]) * scale[limits[4]]
            self.values = [str(self.low), str(self.high)]
            self.beyond += [str(self.low - 1), str(self.high + 1), str(2**64)]
        else:
            self.values = rest.split(", ")
        if kind.startswith("list"):
            self.values.append(",".join(self.values))

    def any_value(self, dice):
        if self.low is None or dice.random() < 0.5:
            return dice.choice(self.values)
        return str(dice.choice([1 << i for i in range(64) if self.low <= 1 << i <= self.high]))


def workloads(npusim):
    """Names and parameters."""
    def listed(*words):
        done = subprocess.run([npusim, "list", *words], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()
    found = {}
    for name in listed("--names"):
        matches = [LINE.match(line) for line in listed(name)]
        found[name] = [Parameter(each[1], each[3], each[4]) for each in matches if each]
    return found


def run(command, seconds, gib):
    """Exit code and stderr; seconds is None if it was interrupted."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (gib << 30, gib << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             preexec_fn=limit)
    try:
        return child.communicate(timeout=seconds)[1], child.returncode, False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
    try:
        return child.communicate(timeout=60)[1], child.returncode, True
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return "", None, True


# Of runs that take long.
PROGRESS = re.compile(r"^\w+: .*\d+ %(, .* left)?$")


def judge(text, code, interrupted, allowed):
    """What is wrong, if anything."""
    line = "\n".join(each for each in text.strip().splitlines() if not PROGRESS.search(each))
    if interrupted:
        if not allowed:
            return "NOT REFUSED"
        # 0: it came to its end just then
        return "" if code in (0, -signal.SIGINT, 130) else f"HANGS after SIGINT, {code}"
    if code not in ((0, 1, 2) if allowed else (2,)):
        return f"ENDED with {code}"
    if code == 0:
        return "" if not line else "SAYS and ends with 0"
    if line.count("\n") or len(line) > 400 or "internal error" in line or not line:
        return "LINE"
    if NO_ESTIMATE in line:
        return "NO ESTIMATE"
    return "NO FAULT NAMED" if code == 1 and not FAULT.search(line) else ""


def every_run(options, configs):
    """Config, workload, settings and whether they are allowed."""
    known = workloads(options.npusim)
    names = options.workload or list(known)
    dice = random.Random(options.seed)
    for _ in range(options.random):
        name = dice.choice([each for each in names if known[each]])
        some = dice.sample(known[name], min(len(known[name]), dice.randint(2, 4)))
        yield (dice.choice(configs), name,
               {each.name: each.any_value(dice) for each in some}, True)
    if options.random:
        return
    for config in configs:
        for name in names:
            for each in known[name]:
                for value in each.values:
                    yield config, name, {each.name: value}, True
                for value in each.beyond:
                    yield config, name, {each.name: value}, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("npusim")
    parser.add_argument("--config", action="append")
    parser.add_argument("--workload", action="append")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--gib", type=int, default=4)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    configs = options.config or ["910b2.yaml", "950pr.yaml"]

    def one(which):
        config, name, settings, allowed = which
        used = dict(part.split("=") for part in SMALL.get(name, "").split()) | settings
        command = [options.npusim, "--config", config, "run", name]
        for key, value in used.items():
            command += ["--set", f"{key}={value}"]
        text, code, interrupted = run(command, options.seconds, options.gib)
        return command, text, interrupted, judge(text, code, interrupted, allowed)

    runs = found = slow = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for command, text, interrupted, wrong in pool.map(one, every_run(options, configs)):
            runs += 1
            slow += interrupted
            found += bool(wrong)
            if wrong:
                shown = " ".join(command[1:])
                print(wrong, "|", text.strip()[:500], "|", shown[:300], flush=True)
    print(f"{runs} runs, {slow} of them interrupted, {found} findings", flush=True)
    return 1 if found else 0


sys.exit(main())
