# SPDX-License-Identifier: Apache-2.0
"""What scripts that gdb runs (gdb -nx -batch -x FILE) have in common. In the environment: NPUSIM (the program),
NPU_CONFIG (a chip) and SOURCE (the tree). A line per check; end() ends gdb, with 1 if one failed."""
import os
import re
import subprocess
import tempfile

import gdb

failed = []


def check(name, holds):
    print(("ok      " if holds else "FAILED  ") + name, flush=True)
    if not holds:
        failed.append(name)


def tell(command):
    return gdb.execute(command, to_string=True)


def name():
    return gdb.selected_thread().name


def core():
    """The number in the selected thread's name."""
    return int(name().split()[-1])


def line():
    return gdb.selected_frame().find_sal().line


def source():
    return gdb.selected_frame().find_sal().symtab.filename


def place_of(file, text):
    """FILE:LINE of the first line that ends with the text."""
    with open(os.path.join(os.environ["SOURCE"], file), encoding="utf-8") as lines:
        return next(f"{file}:{i}" for i, each in enumerate(lines, 1) if each.rstrip().endswith(text))


def simulated():
    return float(tell("monitor time").split()[0])


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def window(buffer):
    found = re.search(rf"^{name()}: {buffer} +(0x[0-9a-f]+)", tell("monitor memory"), re.M)
    return int(found.group(1), 16)


def arguments():
    found = re.search(rf"^{name()}: .*arguments at (0x[0-9a-f]+)", tell("monitor cores"), re.M)
    return int(found.group(1), 16)


class Run:
    """npusim with gdb at it, from before the run's begin."""

    def __init__(self, *workload):
        self.log = tempfile.TemporaryFile("w+")
        self.report = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.environ["NPUSIM"], "--config", os.environ["NPU_CONFIG"], "gdb", "--listen",
             "127.0.0.1:0", *workload], stdout=self.report, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stderr.readline()
        tell(self.line.split("type there: ")[1].strip())

    def ends_with(self, code):
        return self.process.wait(60) == code

    def text(self):
        self.report.seek(0)
        return self.report.read()


def reaches(place):
    tell(f"tbreak {place}")
    tell("continue")


def end(*parts):
    for setting in ("confirm off", "pagination off", "breakpoint pending on", "debuginfod enabled off"):
        tell("set " + setting)
    for part in parts:
        try:
            part()
        except (gdb.error, AttributeError, StopIteration) as error:
            check(f"{part.__name__}: {error!r}", False)
    gdb.execute(f"quit {1 if failed else 0}")
