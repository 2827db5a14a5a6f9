#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of one operator with bytes that were changed at random: npusim runs or refuses them.

    mutations.py NPUSIM [--config CONFIG] [--folder DIR] [--jobs N] [--count N] [--seed N]

A model that runs may have wrong data. Anything else than exit code 0, wrong data, or exit code 2 with one
line is a failure: a signal, a fault of the card.
"""

import argparse
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

FOLDER = "/usr/share/libonnx-testdata/data/node"
# Large tensors do not fit into the card.
SMALL = ["--set", "hbm.installed_mib=16384", "--set", "hbm.usable_mib=1024"]


def change(data, source):
    """Bytes replaced, removed, doubled, or numbers made large."""
    data = bytearray(data)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data))
        how = source.randrange(5)
        if how == 0:
            data[at] = source.randrange(256)
        elif how == 1:
            data[at] ^= 1 << source.randrange(8)
        elif how == 2:
            del data[at:at + source.randint(1, 3)]
        elif how == 3:
            data[at:at] = data[at:at + source.randint(1, 8)]
        else:
            data[at] = source.choice([0, 1, 0x7f, 0x80, 0xff])
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def run(npusim, config, model, seed):
    source = random.Random(f"{model.name} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / model.name
        shutil.copytree(model, place)
        # One in four is an input or a result that is damaged.
        files = sorted(place.rglob("*.pb"))
        target = source.choice(files) if files and source.randrange(4) == 0 else place / "model.onnx"
        target.write_bytes(change(target.read_bytes() or b"\0", source))
        done = subprocess.run([npusim, "--config", config, "onnx", str(place / "model.onnx"), *SMALL],
                              capture_output=True, text=True, errors="replace", check=False)
    lines = done.stderr.strip().splitlines()
    if done.returncode == 0:
        return ""
    if done.returncode == 1 and "wrong data" in done.stderr:
        return ""
    if done.returncode == 2 and len(lines) == 1:
        return ""
    return f"exit code {done.returncode}: {' / '.join(lines[-3:])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npusim")
    parser.add_argument("--config", default="910b2")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(FOLDER))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    models = sorted(each for each in arguments.folder.iterdir() if (each / "model.onnx").is_file())
    if not models:
        sys.exit(f"mutations.py: no models in {arguments.folder}")
    source = random.Random(arguments.seed)
    chosen = [(source.choice(models), arguments.seed * 1_000_000 + i)
              for i in range(arguments.count)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda each: run(arguments.npusim, arguments.config, *each), chosen)
        for (model, seed), why in zip(chosen, results):
            if why:
                bad += 1
                print(f"{model.name} {seed}: {why}", flush=True)
    print(f"{arguments.count - bad} of {arguments.count} changed models run or are refused")
    return int(bad != 0)


if __name__ == "__main__":
    sys.exit(main())
