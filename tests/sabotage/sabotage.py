#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators without one of their synchronisations: is it noticed, and where is it said to be?

usage: sabotage.py NPUSIM [--operator NAME]... [--config NAME]... [--most N] [--jobs N]
                   [--csv FILE] [--least PERCENT]

For each operator of operators.csv and each synchronisation in its template and the headers of that
(sites.py): one run without it on each chip, with core.hazards=report. A row of the table says what the
run showed: hazard (the report names some), fault (the run ended with one), data (a wrong result);
redundant (it was executed, nothing is wrong and nothing is out of order without it); unreached (this
shape does not execute it, which is not counted). Named: the nearest place that is reported, which lies
in the same function as what is missing, is an instruction beside it, or lies in the same file.
Operators as they are must show nothing.

--most N: N synchronisations of each operator, evenly chosen. --least: exit code 1 if fewer of those
that are needed are noticed.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile

import sites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = re.compile(r"(kernels/[\w./]+):(\d+)((?:, \d+)*)")
NEAR = ("function", "beside", "file", "no")
COLUMNS = ["operator", "config", "file", "line", "synchronisation", "shows", "named", "says"]
NOTICED = ("hazard", "fault", "data")


class Tree:
    """A copy of the kernels' sources, of which one file at a time is changed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.copytree(ROOT / "kernels/device", self.folder / "kernels/device")
        (self.folder / "include").symlink_to(ROOT / "include")

    def write(self, path, text):
        (self.folder / path).write_text(text)

    def restore(self, path):
        shutil.copyfile(ROOT / path, self.folder / path)


class Run:
    """What a run showed."""

    def __init__(self, npusim, tree, config, parameters):
        report = tree.folder / "report.json"
        report.unlink(missing_ok=True)
        command = [npusim, "--config", config, "--set", "core.hazards=report", "run", "operator",
                   "--report", str(report), "--set", "calls=1", "--set", "cache=folder"]
        for parameter in parameters:
            command += ["--set", parameter]
        environment = dict(os.environ, NPUSIM_OPERATORS_DIR=str(tree.folder),
                           NPUSIM_JIT_CACHE_DIR=str(tree.folder / "cache"))
        ran = subprocess.run(command, capture_output=True, text=True, env=environment,
                             timeout=300, check=False)
        self.code = ran.returncode
        self.error = (ran.stderr.strip().splitlines() or [""])[-1]
        if self.code == 2:  # it was not run: a source that does not compile shows nothing
            sys.exit(f"{' '.join(command)}: {self.error}")
        self.hazards = []
        if report.exists():
            for table in json.loads(report.read_text()).get("tables", []):
                if table["title"].startswith("hazards of programs"):
                    self.hazards = [row[0] for row in table["rows"]]

    def shows(self):
        if self.hazards:
            return "hazard"
        if self.code == 0:
            return "nothing"
        if "differ" in self.error or "wrong" in self.error:
            return "data"
        return "fault"

    def says(self):
        return self.hazards if self.hazards else [self.error] if self.code else []


def places(line):
    """(file, line) of all places in a line of the report: FILE:LINE from FILE:LINE, LINE."""
    for path, first, more in PLACE.findall(line):
        for number in [first] + re.findall(r"\d+", more):
            yield path, int(number)


def named(site, text, lines):
    """The nearest of what the lines name: the function, an instruction beside it, the file; no."""
    first, last = sites.function_of(text, site.line)
    told = [place for line in lines for place in places(line)]
    if any(path == site.path and first <= number <= last for path, number in told):
        return "function"
    # Of the last barrier the instructions before it are named that nothing else waits for.
    if "pipe_barrier" in site.call and any("without having waited" in line for line in lines):
        return "beside"
    return "file" if any(path == site.path for path, _ in told) else "no"


def rows_of(npusim, tree, case, site, configs):
    text = (ROOT / site.path).read_text()
    tree.write(site.path, site.replaced(text, sites.NOTHING))
    runs = [(config, Run(npusim, tree, config, case["parameters"])) for config in configs]
    rows = []
    for config, run in runs:
        shows, says = run.shows(), run.says()
        if shows == "nothing":
            tree.write(site.path, site.replaced(text, sites.TRAP))
            reached = Run(npusim, tree, config, case["parameters"]).code != 0
            shows = "redundant" if reached else "unreached"
        told = min(says or [""], key=lambda line: NEAR.index(named(site, text, [line])))
        rows.append([case["operator"], config, site.path, site.line, site.call, shows,
                     named(site, text, says), told])
    tree.restore(site.path)
    return rows


def chosen(all_sites, most):
    if most is None or len(all_sites) <= most:
        return all_sites
    return [all_sites[i * len(all_sites) // most] for i in range(most)]


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "0 of 0"


def summary(rows):
    shown = [row[5] for row in rows]
    reached = [row for row in rows if row[5] != "unreached"]
    noticed = [row for row in reached if row[5] in NOTICED]
    needed = [row for row in reached if row[5] != "redundant"]
    near = [row for row in noticed if row[6] in ("function", "beside")]
    file = [row for row in noticed if row[6] != "no"]
    text = (f"noticed {percent(len(noticed), len(reached))} of what is executed, "
            f"{percent(len(noticed), len(needed))} without the redundant; "
            f"named by function {percent(len(near), len(reached))}, "
            f"by file {percent(len(file), len(reached))}; "
            + ", ".join(f"{shown.count(each)} {each}"
                        for each in (*NOTICED, "redundant", "unreached")))
    return text, 100 * len(noticed) / max(len(needed), 1)


def read_cases(names):
    with open(HERE / "operators.csv", encoding="utf-8") as file:
        cases = list(csv.DictReader(file))
    for case in cases:
        case["parameters"] = case["parameters"].replace(";", ",").split()
    if unknown := set(names or []) - {case["operator"] for case in cases}:
        sys.exit(f"no operator {sorted(unknown)[0]} in operators.csv")
    return [case for case in cases if not names or case["operator"] in names]


def run_all(options, cases, configs, trees):
    """All rows, and whether an operator shows something as it is."""
    def with_tree(work, *arguments):
        tree = trees.get()
        try:
            return work(options.npusim, tree, *arguments)
        finally:
            trees.put(tree)

    wrong = False
    for case in cases:
        for config in configs:
            run = with_tree(Run, config, case["parameters"])
            if run.shows() != "nothing":
                print(f"{case['operator']} on {config} as it is: {run.says()[0]}")
                wrong = True
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(with_tree, rows_of, case, site, configs)
                   for case in cases
                   for site in chosen([site for path in sites.files_of(ROOT, case["template"])
                                       for site in sites.sites_in(ROOT, path)], options.most)]
        for each in waiting:
            for row in each.result():
                rows.append(row)
                print(*row[:7], row[7][:160], sep=" | ", flush=True)
    return rows, wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("npusim")
    parser.add_argument("--operator", action="append")
    parser.add_argument("--config", action="append")
    parser.add_argument("--most", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--csv")
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    configs = options.config or ["910b2", "950pr"]
    cases = read_cases(options.operator)
    with tempfile.TemporaryDirectory() as folder:
        trees = queue.SimpleQueue()
        for i in range(options.jobs):
            trees.put(Tree(f"{folder}/{i}"))
        rows, wrong = run_all(options, cases, configs, trees)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS] + rows)
    text, found = summary(rows)
    print(text)
    return 1 if wrong or found < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
