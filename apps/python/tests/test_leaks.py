# SPDX-License-Identifier: Apache-2.0
"""A thousand times the same leaves nothing behind."""

COMMON = """
import gc, os
import numpy
import npusim
PAGE = os.sysconf("SC_PAGE_SIZE")

def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE

def measure(once):
    for _ in range(100):
        once()
    before, objects = resident(), len(gc.get_objects())
    for _ in range(1000):
        once()
    grown = resident() - before
    assert grown < 2 << 20, f"{grown} bytes more"
    assert len(gc.get_objects()) - objects < 100
"""


def test_runs(script):
    script(COMMON + """
simulator = npusim.Simulator("910b2")
worker = npusim.ChipWorker()
worker.init(npusim.host_library(), npusim.program_path("scheduler"), npusim.program_path("executor"))
worker.set_device(0)
D = npusim.ArgDirection
core = npusim.CoreCallable.build([], npusim.program("elementwise"))
made = npusim.ChipCallable.build([D.IN, D.IN, D.OUT] + 4 * [D.INOUT] + [D.SCALAR], "vector_example",
                                 npusim.program("vector_example"), [(0, core)])
scratch = [worker.malloc(1024) for _ in range(4)]
F32 = npusim.DataType.FLOAT32

def once():
    arrays = [numpy.full(256, value, "float32") for value in (2, 3, 0)]
    args = npusim.ChipStorageTaskArgs()
    for array in arrays:
        args.add_tensor(npusim.ContinuousTensor.make(array.ctypes.data, array.shape, F32))
    for address in scratch:
        args.add_tensor(npusim.ContinuousTensor.make(address, (256,), F32, child_memory=True))
    args.add_scalar(256)
    worker.run(made, args)
    assert (arrays[2] == 47).all()

measure(once)
""")


def test_tasks_of_several_cards(script):
    script(COMMON + """
worker = npusim.Worker(3, platform="a2a3", device_ids=[0, 1], num_sub_workers=1)
called = worker.register(lambda args: None)
worker.init()
made = npusim.ChipCallable.build(2 * [npusim.ArgDirection.INOUT] + 5 * [npusim.ArgDirection.INOUT] +
                                 [npusim.ArgDirection.SCALAR], "vector_example",
                                 npusim.program("vector_example"),
                                 [(0, npusim.CoreCallable.build([], npusim.program("elementwise")))])
arrays = [numpy.full(256, value, "float32") for value in (2, 3, 0, 0, 0, 0, 0)]

def spread(orch, _args, _config):
    for _ in range(2):
        args = npusim.TaskArgs()
        for array in arrays:
            args.add_tensor(npusim.ContinuousTensor.make(array.ctypes.data, array.shape,
                                                         npusim.DataType.FLOAT32),
                            npusim.TensorArgType.OUTPUT_EXISTING)
        args.add_scalar(256)
        orch.submit_next_level(made, args)
    orch.submit_sub(called, args)
    memory = orch.malloc(1, 4096)
    orch.free(1, memory)

def once():
    arrays[2][:] = 0
    worker.run(spread)
    assert (arrays[2] == 47).all()

measure(once)
""")


def test_what_is_let_go(script):
    script(COMMON + """
simulator = npusim.Simulator("910b2")
device = simulator.device(0)
allocations = device.info["allocations"]

def once():
    memory, host = device.upload(numpy.arange(64)), device.host_memory(4096)
    with device.stream() as stream:
        stream.copy(host, memory, event=device.event())
    stream = device.stream()
    stream.copy(memory, host, 64)
    stream.synchronize()
    graph = npusim.Graph()
    graph.add(None, shape="none")
    simulator.report()

measure(once)
gc.collect()
assert device.info["allocations"] == allocations
""")


def test_errors(script):
    script(COMMON + """
simulator = npusim.Simulator("910b2")
device = simulator.device(0)

def once():
    for call in (lambda: device.allocate(0), lambda: simulator.device(9),
                 lambda: device.register_kernel(0, b"")):
        try:
            call()
        except npusim.Error as error:
            assert error.context
        else:
            raise AssertionError("no error")

measure(once)
""")
