# SPDX-License-Identifier: Apache-2.0
"""Calls whatever the package has, with whatever there is.

usage: random_calls.py SEED COUNT [CALL]

CALL: the number of the only call to print. Left out are what takes addresses of this process, which
are not checked (`ChipWorker.copy_to()`, `copy_from()`, `run()`), and operators that would compile.
"""
import ctypes
import inspect
import random
import sys
import types

import numpy

import npusim

UNCHECKED = {"copy_to", "copy_from"}
LEFT_OUT = {"elementwise", "last_call", "__del__", "__init_subclass__", "__subclasshook__", "__dir__",
            "__repr__", "__str__", "__format__", "__sizeof__", "__hash__", "__getattribute__",
            "__setattr__", "__delattr__", "__getstate__", "__setstate__", "pybind11_builtins"}
DTYPES = ["u1", "O", "V5", "V0", "S0", "S3", "U2", ">f8", "M8[s]", "m8[ns]", "?", "f2", "c16",
          [("a", "O"), ("b", "i4")], [("a", "i1"), ("b", "f8")], ("i4", (2, 2)), "nonsense", None, []]
NUMBERS = [0, 1, 2, 3, 5, 64, 100, 4096, 65536, -1, -2, -5, 2**31, 2**32, 2**63, 2**64, -2**63, 10**30,
           0.5, float("nan"), float("inf"), True, None]


def arrays():
    for dtype in DTYPES:
        for shape in ((0,), (3,), (1000, 0), ()):
            try:
                yield numpy.zeros(shape, dtype)
            except (TypeError, ValueError):
                pass
    yield numpy.arange(100, dtype="i4")[::3]
    frozen = numpy.zeros(10, "u1")
    frozen.flags.writeable = False
    yield frozen
    yield numpy.ma.masked_array([1, 2, 3], [0, 1, 0])


def others():
    yield from ("", "d2h", "h2d", "d2d", "polling", "interrupt", "aiv", "none", "input", "x" * 1000, "\0")
    yield from (b"", b"abc", bytes(5000), bytearray(7), memoryview(b"abcdef")[::2])
    yield from ([], [1, 2], (0,), (-1, -1), (2, 3), {}, {1: 2}, object(), len, numpy.int64(3))
    yield (ctypes.py_object * 4)()
    yield (ctypes.c_int * 4)()
    for name in ("scheduler", "executor", "elementwise"):
        yield npusim.program(name)


class Tester:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.returned = 0
        self.simulator = npusim.Simulator("910b2")
        self.device = self.simulator.device(0)
        self.values = [*NUMBERS, *DTYPES, *arrays(), *others()]
        self.made = [self.simulator, self.device, self.device.allocate(4096), self.device.host_memory(4096),
                     self.device.stream(), self.device.event(), npusim.Graph(), npusim.ChipWorker(),
                     npusim._npusim.OperatorCall(), self.device._card, self.simulator._session]
        for _, kind in inspect.getmembers(npusim._npusim, inspect.isclass):
            self.made.append(kind.__new__(kind))
        self.classes = [kind for module in (npusim, npusim._npusim)
                        for _, kind in inspect.getmembers(module, inspect.isclass)]
        self.functions = [function for module in (npusim, npusim.ops)
                          for name, function in inspect.getmembers(module, inspect.isroutine)
                          if name not in LEFT_OUT]

    def value(self):
        return self.random.choice(self.made if self.random.random() < 0.3 else self.values)

    def target(self):
        pick = self.random.random()
        if pick < 0.1:
            return self.random.choice(self.functions)
        if pick < 0.2:
            kind = self.random.choice(self.classes)
            return kind.__new__ if self.random.random() < 0.2 else kind
        thing = self.random.choice(self.made if pick < 0.85 else self.classes)
        names = [name for name in dir(thing) if name not in LEFT_OUT | UNCHECKED]
        name = self.random.choice(names)
        if isinstance(thing, npusim.ChipWorker) and name == "run":
            return lambda *_: None
        # Once in a while, so that there is something to call.
        if name in ("close", "finalize", "__exit__") and self.random.random() < 0.998:
            return lambda *_: None
        found = getattr(thing, name)
        if callable(found):
            return found
        if name.startswith("_"):  # what the package has for itself
            return lambda *_: None
        return lambda *_: setattr(thing, name, self.value())

    def arguments(self, target):
        try:
            most = len(inspect.signature(target).parameters)
        except (TypeError, ValueError):
            most = self.random.randrange(6)
        count = most if self.random.random() < 0.8 else self.random.randrange(7)
        return [self.value() for _ in range(min(count, 12))]

    def step(self, shown):
        target = self.target()
        arguments = self.arguments(target)
        if shown:
            print(target, [type(each) for each in arguments], arguments, flush=True)
        made = target(*arguments)
        if isinstance(made, types.GeneratorType):
            made = next(made, None)
        if made is not None and len(self.made) < 200 and type(made).__module__.startswith("npusim"):
            self.made.append(made)

    def run(self, count, shown):
        for number in range(count):
            try:
                self.step(shown is None or number == shown)
                self.returned += 1
            except Exception:  # pylint: disable=broad-except; whatever it is, it is none that ends
                pass


def main():
    tester = Tester(int(sys.argv[1]))
    shown = -1
    if len(sys.argv) > 3:
        shown = int(sys.argv[3]) if sys.argv[3] != "all" else None
    tester.run(int(sys.argv[2]), shown)
    print(f"{tester.returned} calls have returned; whole", flush=True)


main()
