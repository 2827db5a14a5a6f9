#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands under random faults for long: none is lost, and memory does not grow with their number.

usage: soak.py NPUSIM [--commands N] [--faults N] [--seed N] [--config NAME]...

Each configuration runs `soak` with a hundredth of the commands and faults, and then with all.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# An address sanitizer keeps what is freed, 256 MB of it by default: that is not the program's memory.
SANITIZER = ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
MOST_GROWTH_KIB = 16 << 10  # of the larger run over the smaller one: less than 2 bytes a command of 10^7
COUNTS = ("commands", "completed", "failed", "lost", "wrong", "faults", "errors", "reopened")


def run(npusim, config, commands, faults, seed, folder):
    """The metrics of a run, and the most memory that it had, in KiB."""
    report = folder / "soak.json"
    command = [npusim, "--config", config, "run", "soak", "--report", str(report), "--seed", str(seed),
               "--set", f"commands={commands}", "--set", f"faults={faults}"]
    with open(folder / "output", "w+", encoding="utf-8") as output:
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + SANITIZER}
        child = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        output.seek(0)
        said = output.read()
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)}: {said}")
    metrics = json.loads(report.read_text(encoding="utf-8"))["metrics"]
    values = {each["name"]: each["value"] for each in metrics}
    return {name: values[f"soak.{name}"] for name in COUNTS}, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("npusim")
    parser.add_argument("--commands", type=int, default=10_000_000)
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for config in options.config or ["910b2", "950pr"]:
            few = max(options.commands // 100, 1), max(options.faults // 100, 1)
            _, before = run(options.npusim, config, *few, options.seed, folder)
            counts, after = run(options.npusim, config, options.commands, options.faults, options.seed, folder)
            print(f"{config}: " + ", ".join(f"{counts[each]} {each}" for each in COUNTS) +
                  f"; {before} KiB with a hundredth, {after} KiB with all")
            if counts["commands"] < options.commands or counts["faults"] < options.faults * 9 // 10:
                sys.exit(f"{config}: less was done than was asked for")
            if counts["completed"] + counts["failed"] != counts["commands"] or counts["lost"] or counts["wrong"]:
                sys.exit(f"{config}: not every command is accounted for")
            if after > before + MOST_GROWTH_KIB:
                sys.exit(f"{config}: memory grows with the number of commands")


if __name__ == "__main__":
    main()
