#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The standard's models of one operator (Debian: libonnx-testdata) on a simulated card.

    nodes.py NPUSIM [--config CONFIG] [--folder DIR] [--jobs N] [--set KEY=VALUE] [--list FILE] [--refused FILE] [--all] [NAME ...]

Each model runs by `npusim onnx`, which compares its results with those beside it. NAMEs are beginnings
of models' names; without one all run. The last line counts. `--list` writes a row for each model: what
became of it, and why. Models that are refused are no failure, unless `--refused` names a list of others, or
`--all` is given; wrong results and faults are.
"""

import argparse
import collections
import concurrent.futures
import csv
import pathlib
import subprocess
import sys

FOLDER = "/usr/share/libonnx-testdata/data/node"


def run(npusim, config, model, settings):
    options = [each for setting in settings for each in ("--set", setting)]
    done = subprocess.run([npusim, "--config", config, "onnx", str(model / "model.onnx"), *options],
                          capture_output=True, text=True, check=False)
    why = done.stderr.strip().splitlines()[-1:] or [""]
    why = why[0].replace(str(model) + "/", "").removeprefix("npusim: ")
    if done.returncode == 0:
        compared = "results are not compared" not in done.stdout
        return ("right", "") if compared else ("not compared", "no results beside the model")
    return ("refused" if done.returncode == 2 else "wrong"), why


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npusim")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--config", default="910b2")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(FOLDER))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--refused", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[], help="as of npusim")
    parser.add_argument("--all", action="store_true", help="refused ones are a failure, too")
    arguments = parser.parse_intermixed_args()
    models = [each for each in sorted(arguments.folder.iterdir())
              if (each / "model.onnx").is_file()
              and (not arguments.names
                   or any(each.name.removeprefix("test_").startswith(name)
                          for name in arguments.names))]
    if not models:
        sys.exit(f"nodes.py: no such models in {arguments.folder}")
    counts = collections.Counter()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda each: run(arguments.npusim, arguments.config, each, arguments.set), models)
        for model, (outcome, why) in zip(models, results):
            counts[outcome] += 1
            rows.append([model.name.removeprefix("test_"), outcome, why])
            if outcome != "right":
                print(f"{outcome}: {rows[-1][0]}: {why}", flush=True)
    if arguments.list:
        with arguments.list.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["model", "outcome", "why"])
            table.writerows(rows)
    refused = [[row[0], row[2]] for row in rows if row[1] == "refused"]
    if arguments.refused:
        with arguments.refused.open(encoding="utf-8", newline="") as file:
            known = list(csv.reader(file))[1:]
        for row in (row for row in refused if row not in known):
            print(f"not in {arguments.refused}: {','.join(row)}")
        for row in (row for row in known if row not in refused):
            print(f"not refused any more: {','.join(row)}")
        counts["other"] = int(refused != known)
    print(f"{counts['right']} of {len(models)} models right, {counts['refused']} refused")
    good = counts["right"] + (0 if arguments.all else counts["refused"])
    return int(good != len(models) or counts["other"])


if __name__ == "__main__":
    sys.exit(main())
