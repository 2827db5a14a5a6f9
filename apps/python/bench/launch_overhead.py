#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How much wall time a call from Python takes beside the simulation itself.

    PYTHONPATH=build/release/python python3 apps/python/bench/launch_overhead.py [rounds]

A row per call: the median of what a call takes, of what of it is the simulation, and of the
difference: Python and the binding. The row "nothing" is a call that does nothing: what it takes in
the simulation is entering and leaving it. Figures of this machine, for people: no test looks at
them.
"""

import statistics
import sys
import time

import numpy

import npusim

F32 = npusim.DataType.FLOAT32


def measure(simulator, name, call, rounds):
    session = simulator._session
    whole, inside = [], []
    for _ in range(rounds):
        before, begin = session.inside_ns, time.perf_counter_ns()
        call()
        whole.append(time.perf_counter_ns() - begin)
        inside.append(session.inside_ns - before)
    outside = [a - b for a, b in zip(whole, inside)]
    print(f"{name:<28}" + "".join(f"{statistics.median(each) / 1000:>12.1f}"
                                  for each in (whole, inside, outside)))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    simulator = npusim.Simulator("910b2")
    print(f"{'median of wall us':<28}{'call':>12}{'simulation':>12}{'overhead':>12}")
    with simulator.device(0) as device:
        device.register_kernel(0, "empty")
        graph = npusim.Graph()
        graph.add(0, shape="aic")
        memory, host, stream = device.allocate(4096), device.host_memory(4096), device.stream()
        data = bytes(64)
        measure(simulator, "nothing", simulator._session.nothing, rounds)
        measure(simulator, "Device.run, one task", lambda: device.run(graph), rounds)
        measure(simulator, "DeviceMemory.write, 64 B", lambda: memory.write(data), rounds)
        measure(simulator, "Stream.copy, 4 KiB", lambda: stream.copy(memory, host), rounds)
        measure(simulator, "Stream.synchronize", stream.synchronize, rounds)
        measure(simulator, "Simulator.now", lambda: simulator.now, rounds)
        ones = numpy.ones(8, "float32")
        add = npusim.ops.elementwise
        measure(simulator, "ops.elementwise, to and fro", lambda: add("a + a", ones, device=device),
                rounds)
        operators, call = device._operators, npusim._npusim.OperatorCall()
        call.name, call.dtype, call.shape, call.expression = "elementwise", "float32", [8], "a + a"
        call.inputs, call.results = 4 * [memory.address], [memory.address, 0, 0]
        measure(simulator, "  its launch and wait", lambda: operators.run(call), rounds)
        del host, stream, memory
    worker = npusim.ChipWorker()
    worker.init(npusim.host_library(), npusim.program_path("scheduler"),
                npusim.program_path("executor"))
    worker.set_device(0)
    core = npusim.CoreCallable.build([], npusim.program("elementwise"))
    made = npusim.ChipCallable.build(
        [npusim.ArgDirection.IN] * 7 + [npusim.ArgDirection.SCALAR], "vector_example",
        npusim.program("vector_example"), [(0, core)])
    args = npusim.ChipStorageTaskArgs()
    for value in (2, 3, 0, 0, 0, 0, 0):
        array, address = numpy.full(256, value, "float32"), worker.malloc(1024)
        worker.copy_to(address, array.ctypes.data, 1024)
        args.add_tensor(npusim.ContinuousTensor.make(address, (256,), F32, child_memory=True))
    args.add_scalar(256)
    measure(simulator, "ChipWorker.run, five tasks", lambda: worker.run(made, args), rounds)
    worker.finalize()


main()
