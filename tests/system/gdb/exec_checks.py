# SPDX-License-Identifier: Apache-2.0
"""Checks of `npusim gdb exec`, run by gdb itself: see at_gdb.py. In the working directory are adds and stores, programs
with kernels of their own (adds.o, stores.o). In the environment besides: KERNEL (adds.cpp)."""
import os
import struct
import subprocess
import sys

import gdb

sys.path.insert(0, os.path.dirname(__file__))
from at_gdb import Run, arguments, check, core, end, line, memory, name, reaches, simulated, source, tell, window  # noqa: E402

LOOP, BEGIN = "for (uint32_t at = 0; at < length; at += step) {", "op.Init(x, y, z, total, tile);"
TOTAL = 16384  # elements of the first launch, of fp16


def at(text, nth=1):
    with open(os.environ["KERNEL"], encoding="utf-8") as lines:
        found = [i for i, each in enumerate(lines, 1) if each.strip() == text]
    return f"adds.cpp:{found[nth - 1]}"


def program(*options):
    return Run("exec", *options, "--", "./adds")


def stops_steps_and_watches():
    run = program("--report", "debugged.json")
    check("before the programs there is the host alone", name() == "host" and simulated() == 0)
    reaches(at(LOOP))
    check("a line of the program's own kernel stops a vector core", name().startswith("aiv "))
    check("it stops at the line that was asked for", f"{source()}:{line()}" == "./" + at(LOOP))
    check("the backtrace names the kernel", "add_half" in tell("backtrace"))
    check("a list of cores has it", f"{name()}: block" in tell("monitor cores") and "add_half" in tell("monitor cores"))
    check("local variables are printed", "at = 0" in tell("info locals"))
    mine, before, begun = core(), line(), simulated()
    x, _, z, total, tile = struct.unpack("<3QII", memory(arguments(), 32))
    check("the words of the arguments are those of the launch", (total, tile) == (TOTAL, 128))
    tell("next")
    check("a line is stepped by the same core", core() == mine and line() != before and simulated() >= begun)
    first, = struct.unpack("<e", memory(x, 2))
    check("global memory has what the program has copied there", first == -2)
    check("UB of the core is there", len(memory(window("UB"), 64)) == 64)
    tell(f"watch *(unsigned short *){z:#x}")
    tell("continue")
    check("a write to global memory stops the machine", "MTE3" in tell("monitor last-write"))
    check("the sum is there", struct.unpack("<e", memory(z, 2)) == (-3.75,))
    tell("delete")
    tell("break " + at(BEGIN, 3))
    tell("continue")
    stopped = core()
    tell("continue")
    check("another kernel stops on core after core", core() != stopped and "add_int" in tell("backtrace"))
    tell("delete")
    tell("continue")
    check("gdb sees the run end", not gdb.selected_inferior().threads())
    check("the program ends as without gdb", run.ends_with(0))
    without = [os.environ["NPUSIM"], "--config", os.environ["NPU_CONFIG"], "exec", "--report", "alone.json", "--", "./adds"]
    subprocess.run(without, stdout=subprocess.DEVNULL, check=True)
    with open("debugged.json", encoding="utf-8") as one, open("alone.json", encoding="utf-8") as other:
        check("with the same report", one.read() == other.read())


def is_breakpoint(place):
    try:
        return bool(gdb.decode_line(place)[1])
    except gdb.error:
        return False


def lines():
    run = Run("exec", "--", "./stores")
    reaches("stores.cpp:6")
    refused = [each for each in range(6, 11) if not is_breakpoint(f"stores.cpp:{each}")]
    check(f"every line of a kernel is one to stop at, or has a later one: not {refused}", not refused)
    tell("detach")
    check("the program goes on without gdb", run.ends_with(0))


def scalar_stores():
    for block in (0, 3, 6):
        run = Run("exec", "--", "./stores")
        reaches("stores.cpp:6")
        to, = struct.unpack("<Q", memory(arguments(), 8))
        word = to + 64 * block
        tell(f"watch *(unsigned *){word:#x}")
        tell("continue")
        check(f"the store of block {block} stops its core", name() == f"aiv {block}")
        check("the value is there", int(gdb.parse_and_eval(f"*(unsigned *){word:#x}")) == 100 + block)
        check("it is behind the store", "store" in tell("backtrace"))
        check("the scalar unit has written", f"written by aiv {block}, the scalar unit" in tell("monitor last-write"))
        tell("delete")
        tell("detach")
        check("the program ends", run.ends_with(0))


def host_writes():
    run = program()
    reaches(at(LOOP))
    x, = struct.unpack("<Q", memory(arguments(), 8))
    tell("delete")
    tell(f"watch *(unsigned long *){x:#x}")
    tell("continue")
    check("what the host writes can be read", name() == "host" and len(memory(x, 8)) == 8)
    tell("delete")
    tell("detach")
    check("the program that has written it ends", run.ends_with(0))


def ends():
    for leaves, code in (("detach", 0), ("disconnect", 0), ("kill", 143)):
        run = program()
        reaches(at(BEGIN))
        tell(leaves)
        check(f"a program that gdb has left by {leaves} ends with {code}", run.ends_with(code))


end(stops_steps_and_watches, lines, scalar_stores, host_writes, ends)
