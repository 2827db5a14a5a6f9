# SPDX-License-Identifier: Apache-2.0
"""Checks of `npusim gdb`, run by gdb itself: see at_gdb.py."""
import os
import signal
import struct
import subprocess
import sys

import gdb

sys.path.insert(0, os.path.dirname(__file__))
from at_gdb import (Run, arguments, check, core, end, line, memory, name, place_of, reaches, simulated, source,  # noqa: E402
                    tell, window)

KERNEL = "kernels/device/shipped/matmul.cpp"
LOAD = "kernels/device/matmul/block_mmad.hpp"


def without_gdb():
    return subprocess.run([os.environ["NPUSIM"], "--config", os.environ["NPU_CONFIG"], "run",
                           *PRODUCT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=True).stdout


PRODUCT = ["matmul_kernel", "--set", "m=256", "--set", "n=256", "--set", "k=256"]


def stops_and_steps():
    run = Run(*PRODUCT)
    check("it waits at an address of this machine", "127.0.0.1:" in run.line)
    check("before the run there is the host alone", name() == "host" and simulated() == 0)
    tell(f"break {KERNEL}:12")
    tell("continue")
    check("a breakpoint stops a cube core", name().startswith("aic "))
    check("it stops at the line that was asked for", line() == 12 and source() == KERNEL)
    check("the backtrace names the kernel", "gemm" in tell("backtrace") and KERNEL in tell("bt"))
    check("local variables are printed", tell("print p.m") == "$1 = 256\n" and "m = 64" in tell("info locals"))
    check("the program's object has symbols", "Yes" in tell("info sharedlibrary"))
    first, begun = core(), simulated()
    check("simulated time stands still", begun > 0 and simulated() == begun)
    tell("continue")
    check("the next core stops at the same breakpoint", core() != first and line() == 12)
    check("simulated time has not gone back", simulated() >= begun)
    tell("delete")
    reaches(place_of(LOAD, "from = first_k(product, step);"))
    mine, before = gdb.selected_thread().num, line()
    place = int(gdb.parse_and_eval("(unsigned long)$pc"))
    tell("stepi")
    check("an instruction is stepped", 0 < int(gdb.parse_and_eval("(unsigned long)$pc")) - place < 16)
    check("the same core has stepped", gdb.selected_thread().num == mine)
    tell("next")
    tell("next")
    check("lines are stepped, over calls of the port",
          gdb.selected_thread().num == mine and line() != before and source() == LOAD)
    check("simulated time has gone on", simulated() >= begun)
    check("a register is written and read back",
          "0x1234" in (tell("set var $rbx_was = $rbx") + tell("set var $rbx = 0x1234")
                       + tell("print/x $rbx")))
    tell("set var $rbx = $rbx_was")
    check("a list of cores has this one", f"{name()}: block" in tell("monitor cores"))
    other = next(t for t in gdb.selected_inferior().threads() if t.name == f"aic {first}")
    other.switch()
    check("another core has a backtrace of its own", "kernels/device" in tell("backtrace"))
    tell("continue")
    check("gdb sees the run end", not gdb.selected_inferior().threads())
    check("the run ends as without gdb", run.ends_with(0))
    check("with the same report", run.text() == without_gdb())


def memory_and_watches():
    run = Run(*PRODUCT)
    reaches(f"{KERNEL}:12")
    a, _, c = struct.unpack("<3Q", memory(arguments(), 24))
    check("the words of the kernel's arguments are addresses apart", len({a, c, 0}) == 3)
    tell(f"watch *(unsigned short *){c:#x}")
    tell("continue")
    check("a write to global memory stops the machine", name().startswith("aic "))
    last = tell("monitor last-write")
    check("core and pipe of the write are named", name() in last and "FixPipe" in last)
    result, = struct.unpack("<e", memory(c, 2))
    accumulated, = struct.unpack("<f", memory(window("L0C"), 4))
    check("the sum in L0C is what was written, rounded",
          result != 0 and struct.pack("<e", accumulated) == struct.pack("<e", result))
    check("L1 has the first row of A", memory(window("L1"), 32) == memory(a, 32))
    check("global memory by the core's window is the same",
          memory(window("GM") + a, 32) == memory(a, 32))
    try:
        memory(1, 4)
        check("a bad address is an error", False)
    except gdb.MemoryError:
        check("a bad address is an error", True)
    tell("delete")
    tell("disconnect")
    check("a run without its gdb goes on to its end", run.ends_with(0))


def outermost_frames():
    run = Run(*PRODUCT)
    reaches(f"{KERNEL}:12")
    mine = name()
    tell("finish")
    check("a program is finished out of its outermost frame",
          name() == mine and int(gdb.parse_and_eval("(unsigned long)$pc")) == 0)
    tell("detach")
    check("the run ends behind it", run.ends_with(0))
    run = Run(*PRODUCT)
    reaches(f"{KERNEL}:12")
    mine, c = name(), int(gdb.parse_and_eval("p.c"))
    tell("watch -l *(unsigned short *)p.c")
    tell("continue")
    check("the place of an expression with a local variable is watched",
          name() == mine and f"{c:#x}: written by {mine}" in tell("monitor last-write"))
    tell("delete")
    tell("detach")
    check("the run ends", run.ends_with(0))


def ends():
    run = Run(*PRODUCT)
    reaches(f"{KERNEL}:12")
    tell("detach")
    check("a run that gdb has left goes on to its end", run.ends_with(0))
    run = Run(*PRODUCT)
    reaches(f"{KERNEL}:12")
    tell("kill")
    check("a run that is killed ends", run.ends_with(128 + signal.SIGTERM))


def other_cores():
    run = Run("vector_add", "--set", "elements=4096")
    reaches("firmware/aicpu/scheduler.cpp:120")
    check("a breakpoint stops an AICPU", name().startswith("aicpu "))
    names = {t.name.split()[0] for t in gdb.selected_inferior().threads()}
    check("cores of all types are threads", names == {"host", "aic", "aiv", "aicpu"})
    tell("continue")
    check("the run on AICPUs ends", run.ends_with(0))


end(stops_and_steps, memory_and_watches, outermost_frames, ends, other_cores)
