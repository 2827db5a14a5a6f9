# SPDX-License-Identifier: Apache-2.0
"""Graphs of tasks for a card's AI Cores."""

import struct

from . import _npusim
from .memory import DeviceMemory, ManagedMemory


class Argument:
    """An argument of a task: `scalar()`, `input()`, `output()`, `inout()`, `no_dependency()`.

    Attributes:
        word: the 64 bits that the kernel gets: a device address, or a scalar.
        kind: "scalar", "input", "output", "inout", "no_dependency".
        nbytes: of the tensor; 0: unknown.
    """

    __slots__ = ("word", "kind", "nbytes")

    def __init__(self, word, kind, nbytes=0):
        self.word = word
        self.kind = kind
        self.nbytes = nbytes

    def __repr__(self):
        return f"<npusim.Argument {self.kind} {self.word:#x}>"


def scalar(value):
    """An argument that is no tensor.

    Args:
        value: an `int` of 64 bits, signed or not; a `float` is passed as the bits of an fp32.

    Raises:
        ValueError: an integer beyond 64 bits.
    """
    if isinstance(value, float):
        return Argument(struct.unpack("<I", struct.pack("<f", value))[0], "scalar")
    value = int(value)
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"{value} has more than 64 bits")
    return Argument(value & 0xFFFF_FFFF_FFFF_FFFF, "scalar")


def _tensor(memory, kind, offset):
    if isinstance(memory, (DeviceMemory, ManagedMemory)):
        if not 0 <= offset < memory.nbytes:
            raise ValueError(f"byte {offset} is not inside of {memory.nbytes} bytes")
        return Argument(memory.address + offset, kind, memory.nbytes - offset)
    return Argument(int(memory) + offset, kind)


def input(memory, offset=0):  # pylint: disable=redefined-builtin
    """A tensor that the task reads: it waits for the last task that writes it.

    Args:
        memory: a `DeviceMemory`, a `ManagedMemory`, or a device address.
        offset: of the tensor in it, in bytes.

    Raises:
        ValueError: the offset is not inside of the memory, or that is freed.
    """
    return _tensor(memory, "input", offset)


def output(memory, offset=0):
    """A tensor that the task writes: it waits for the last task that writes it. Else as `input()`."""
    return _tensor(memory, "output", offset)


def inout(memory, offset=0):
    """A tensor that the task reads and writes. Else as `input()`."""
    return _tensor(memory, "inout", offset)


def no_dependency(memory, offset=0):
    """A tensor whose order is somebody else's business: nothing waits for it. Else as `input()`."""
    return _tensor(memory, "no_dependency", offset)


class Graph:
    """Tasks and what they wait for. It holds no card; `Device.run()` runs it, any number of times.

    It refers to memory by address: what its tasks use must not be freed before it has run.
    """

    def __init__(self):
        self._native = _npusim.TaskGraph()

    def __repr__(self):
        return f"<npusim.Graph of {len(self)} tasks, {self.edges} edges>"

    def __len__(self):
        return self._native.tasks

    @property
    def edges(self):
        """How many pairs of tasks there are of which one waits for the other: `int`."""
        return self._native.edges

    def add(self, kernel, arguments=(), shape="aiv", blocks=1, cooperative=False, predicate=None,
            after=(), user=0):
        """Adds a task.

        A tensor is known by its address: reads wait for the last write, writes for the last write;
        that a write waits for reads is for `after` to say.

        Args:
            kernel: a number as `Device.register_kernel()` was given; None with the shape "none".
            arguments: a sequence of `Argument`.
            shape: where a block runs: "aic" one cube core, "aiv" one vector core, "mixed" a cluster,
                "none" nowhere: the task is for its dependencies.
            blocks: 1 .. 32767.
            cooperative: no block begins before all have a core.
            predicate: `DeviceMemory` or address of a 32-bit word: the task waits for its last
                writer, and is skipped if it is 0 then.
            after: numbers of tasks to wait for, beside those that the arguments say.
            user: the caller's own, 64 bits.

        Returns:
            The task's number, from 0 in the order of `add()`.

        Raises:
            ValueError: an unknown shape.
            Error: `ErrorCode.INVALID_ARGUMENT`: blocks, too many arguments, an unknown task.
        """
        words = [(each.word, each.kind, each.nbytes) for each in arguments]
        word = 0 if predicate is None else _tensor(predicate, "input", 0).word
        return self._native.add(kernel, shape, words, blocks, cooperative, word, list(after), user)

    def depend(self, task, producer):
        """`task` also waits for `producer`, which may be the later one; cycles are not looked for.

        Raises:
            Error: `ErrorCode.INVALID_ARGUMENT`, there is no such task.
        """
        self._native.depend(task, producer)
