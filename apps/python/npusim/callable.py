# SPDX-License-Identifier: Apache-2.0
"""What a `ChipWorker` runs: kernels, and the host's function that makes a graph of them."""

import ctypes
import enum

from .plain_bytes import bytes_of
from .task_interface import ALIGNMENT


class ArgDirection(enum.IntEnum):
    """What a callable does with an argument; a signature is a list of them."""

    SCALAR = 0
    IN = 1
    OUT = 2
    INOUT = 3


class _Aligned:
    """Bytes at an address that is a multiple of 64."""

    def __init__(self, data):
        data = bytes(bytes_of(data))
        self._room = ctypes.create_string_buffer(len(data) + ALIGNMENT)
        begin = ctypes.addressof(self._room)
        self.address = -(-begin // ALIGNMENT) * ALIGNMENT
        self.size = len(data)
        ctypes.memmove(self.address, data, len(data))

    def part(self, offset, size):
        return ctypes.string_at(self.address + offset, size)


def _signature(signature):
    return [ArgDirection(each) for each in signature]


class CoreCallable:
    """A kernel: `build()` makes it."""

    @staticmethod
    def build(signature, binary):
        """A kernel: a `CoreCallable`.

        Args:
            signature: an `ArgDirection` for each argument.
            binary: its object: `bytes`, such as `npusim.program("elementwise")`.

        Raises:
            ValueError: an unknown direction, or the object is empty.
        """
        made = CoreCallable()
        made._signature = _signature(signature)
        binary = bytes(bytes_of(binary))
        if not binary:
            raise ValueError("a kernel without a binary")
        made._binary = _Aligned(binary)
        return made

    def __repr__(self):
        return f"<npusim.CoreCallable of {len(self._signature)} arguments, {self.buffer_size} bytes>"

    @property
    def signature(self):
        """The arguments' directions: a list of `ArgDirection`."""
        return list(self._signature)

    @property
    def buffer_ptr(self):
        """The address of the object: `int`."""
        return self._binary.address

    @property
    def buffer_size(self):
        """The size of the object in bytes: `int`."""
        return self._binary.size


class ChipCallable:
    """A function of the host's that adds the tasks of a run, and the kernels of those.

    The function is C's ``int function(npu_runtime* runtime, const uint64_t* words, size_t count)``
    (npu/driver/runtime.h): it calls `npu_add_task()` and answers 0. The words are an address on the
    card for each tensor, then the scalars. One buffer holds all of it: the host's object first, each
    child at a multiple of 64.
    """

    @staticmethod
    def build(signature, func_name, binary, children, config_name=""):
        """A callable: a `ChipCallable`.

        Args:
            signature: an `ArgDirection` for each argument, tensors first.
            func_name: of the function in the object.
            binary: the object: `bytes` of a shared object for this host.
            children: pairs of a number, 0 .. 1023, and a `CoreCallable`: the kernels by the numbers
                that the function knows them by.
            config_name: the caller's own.

        Raises:
            ValueError: an unknown direction, a scalar before a tensor, no name, an empty object,
                a number twice or out of range.
            TypeError: a child is no CoreCallable.
        """
        made = ChipCallable()
        made._signature = _signature(signature)
        tensors = [each is not ArgDirection.SCALAR for each in made._signature]
        if tensors != sorted(tensors, reverse=True):
            raise ValueError("signature: all tensors come before the first scalar")
        binary = bytes(bytes_of(binary))
        if not func_name or not binary:
            raise ValueError("a callable without a function or a binary")
        made._func_name, made._config_name = str(func_name), str(config_name)
        made._binary_size = len(binary)
        made._children = {}
        image = bytearray(binary)
        for number, child in children:
            if not isinstance(child, CoreCallable):
                raise TypeError(f"a child of type {type(child).__name__}: CoreCallable")
            if not 0 <= number < 1024 or number in made._children:
                raise ValueError(f"child {number}: 0 to 1023, each once")
            image += bytes(-len(image) % ALIGNMENT)
            made._children[number] = (len(image), child.buffer_size)
            image += child._binary.part(0, child.buffer_size)
        made._image = _Aligned(image)
        return made

    def __repr__(self):
        return (f"<npusim.ChipCallable {self._func_name}, {len(self._children)} kernels, "
                f"{self.buffer_size} bytes>")

    @property
    def signature(self):
        """The arguments' directions: a list of `ArgDirection`."""
        return list(self._signature)

    @property
    def func_name(self):
        """The name of the host's function: `str`."""
        return self._func_name

    @property
    def config_name(self):
        """The caller's own: `str`."""
        return self._config_name

    @property
    def child_count(self):
        """How many kernels there are: `int`."""
        return len(self._children)

    def child_offset(self, number):
        """Where a kernel's object is in the buffer, in bytes: `int`, a multiple of 64.

        Args:
            number: as `build()` was given it.

        Raises:
            KeyError: there is no such child.
        """
        return self._children[number][0]

    @property
    def buffer_ptr(self):
        """The address of the buffer: `int`, a multiple of 64."""
        return self._image.address

    @property
    def buffer_size(self):
        """The size of the buffer in bytes: `int`."""
        return self._image.size

    def _host_object(self):
        return self._image.part(0, self._binary_size)

    def _child_objects(self):
        for number, (offset, size) in self._children.items():
            yield number, self._image.part(offset, size)
