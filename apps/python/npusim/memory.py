# SPDX-License-Identifier: Apache-2.0
"""Memory of cards and of the host."""

import math
import operator
import os

import numpy

from . import _npusim
from .plain_bytes import bytes_of, bytes_to_fill, plain_dtype


def _size_of(size):
    size = operator.index(size)
    if size < 0:
        raise ValueError(f"size: found {size}; allowed: 1 or more")
    if size >= 1 << 63:
        raise ValueError(f"size: found {size}; allowed: less than 2^63")
    return size


def _shape_of(shape, nbytes, dtype):
    """A tuple; without a shape all that fits into `nbytes`."""
    if shape is None:
        return (max(nbytes, 0) // dtype.itemsize,)
    sides = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    sides = tuple(operator.index(side) for side in sides)
    if any(side < 0 for side in sides):
        raise ValueError(f"shape: found {sides}; allowed: no side below 0")
    return sides


class DeviceMemory:
    """Memory of a card: `Device.allocate()` makes it.

    Its bytes are on the card, so it has no buffer of its own: `write()` and `read()` copy, which
    takes simulated time. It is freed by `free()`, at the end of a `with`, or when nobody holds it.
    """

    def __init__(self, device, size):
        self._device = device
        self._size = _size_of(size)
        self._address = device._card.allocate(self._size)
        device._memories.add(self)

    def __repr__(self):
        state = f"{self._address:#x}" if self._address else "freed"
        return f"<npusim.DeviceMemory {self._size} bytes, {state}>"

    def __len__(self):
        return self._size

    def __reduce__(self):
        raise TypeError("memory of a card cannot be copied or pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()

    def __del__(self):
        address, self._address = getattr(self, "_address", 0), 0
        if address and not self._device.closed:
            self._device._forgotten.append(address)

    @property
    def address(self):
        """The device address of the first byte: `int`. Raises ValueError after `free()`.

        No other card of the machine has it while this memory is there.
        """
        if not self._address:
            raise ValueError("the memory is freed")
        return self._address

    @property
    def nbytes(self):
        """The size in bytes, as it was asked for: `int`."""
        return self._size

    def _at(self, offset, size):
        offset = operator.index(offset)
        if offset < 0 or size < 0 or offset + size > self._size:
            raise ValueError(
                f"{size} bytes from byte {offset} are not inside of {self._size} bytes")
        return self.address + offset

    def write(self, data, offset=0):
        """Copies to the card; returns when the bytes are there.

        Args:
            data: any object with a buffer (array of any shape and dtype, bytes, HostMemory); the
                bytes in C order. An array that is not contiguous is copied first.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: it does not fit, it holds references to Python's objects, or the memory is
                freed.
            Error: what the driver says.
        """
        data = bytes_of(data)
        size = memoryview(data).nbytes
        address = self._at(offset, size)
        if size:
            self._device._ready().write(address, data)

    def read(self, nbytes=None, offset=0):
        """The bytes on the card: `bytes`.

        Args:
            nbytes: how many; None: all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: there are not so many, or the memory is freed.
            Error: what the driver says.
        """
        offset = operator.index(offset)
        nbytes = self._size - offset if nbytes is None else operator.index(nbytes)
        self._at(offset, nbytes)
        data = bytearray(nbytes)
        self.read_into(data, offset)
        return bytes(data)

    def read_into(self, target, offset=0):
        """Copies from the card into `target`.

        Args:
            target: a writable contiguous object with a buffer; all of it is filled.
            offset: of the first byte on the card, in bytes.

        Raises:
            ValueError: there are not so many bytes, `target` holds references to Python's objects,
                or the memory is freed.
            BufferError: `target` is read-only or not contiguous.
            Error: what the driver says.
        """
        target = bytes_to_fill(target)
        size = memoryview(target).nbytes
        address = self._at(offset, size)
        if size:
            self._device._ready().read(target, address)

    def to_numpy(self, dtype="uint8", shape=None, offset=0):
        """The bytes on the card as a new array.

        Args:
            dtype: any of NumPy's whose elements are bytes, and more than none: no objects.
            shape: a tuple or an int; None: one dimension with all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: such a type, or shape; there are not so many bytes, or the memory is freed.
            TypeError: NumPy has no such type.
            Error: what the driver says.
        """
        dtype = plain_dtype(dtype)
        shape = _shape_of(shape, self._size - operator.index(offset), dtype)
        self._at(offset, math.prod(shape) * dtype.itemsize)
        array = numpy.empty(shape, dtype)
        self.read_into(array, offset)
        return array

    def free(self):
        """Gives the memory back. Idempotent.

        Raises:
            Error: what the driver says.
        """
        address, self._address = self._address, 0
        if address and not self._device.closed:
            self._device._ready().free(address)


class _Viewed:
    """Memory with a writable buffer of bytes: `_native`, `_size` of them."""

    def __len__(self):
        return self._size

    @property
    def __array_interface__(self):
        view = numpy.frombuffer(self._native, numpy.uint8)
        return dict(view.__array_interface__, owner=view)

    @property
    def nbytes(self):
        """The size in bytes: `int`."""
        return self._size

    def view(self):
        """The bytes as a writable `memoryview`, without a copy."""
        return memoryview(self._native)

    def array(self, dtype="uint8", shape=None, offset=0):
        """The bytes as an array, without a copy.

        Args:
            dtype: any of NumPy's whose elements are bytes, and more than none: no objects.
            shape: a tuple or an int; None: one dimension with all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: such a type, or shape; there are not so many bytes.
            TypeError: NumPy has no such type.
        """
        dtype, offset = plain_dtype(dtype), operator.index(offset)
        shape = _shape_of(shape, self._size - offset, dtype)
        size = math.prod(shape) * dtype.itemsize
        if offset < 0 or offset + size > self._size:
            raise ValueError(
                f"{size} bytes from byte {offset} are not inside of {self._size} bytes")
        return numpy.ndarray(shape, dtype, numpy.frombuffer(self._native, numpy.uint8), offset)


class HostMemory(_Viewed):
    """Host memory that a card reaches by DMA: `Device.host_memory()` makes it.

    It has a writable buffer of bytes, without a copy: `numpy.asarray(memory)` and `array()` are
    views of it. It lives until neither it nor a view is held; a device cannot be closed before.
    """

    def __init__(self, device, size):
        self._device = device
        self._size = _size_of(size)
        self._native = _npusim.HostMemory(device._ready(), self._size)

    def __repr__(self):
        return f"<npusim.HostMemory {self._size} bytes>"

    @property
    def bus_address(self):
        """The address of the first byte as the card sees it: `int`."""
        return self._native.bus


class ManagedMemory(_Viewed):
    """Memory with one address for Python and all cards: `Simulator.managed_memory()` makes it.

    A page of 2 MiB is where it was used last. `array()` and `numpy.asarray(memory)` are views of
    the bytes; a page that a card has comes back when an element of it is touched, in simulated
    time. It lives until neither it nor a view is held; a device cannot be closed before.

    Only the thread of the simulator brings pages. Other threads, and files and sockets, whose
    bytes the kernel copies, use what is on the host: call `to_host()` before. A child of
    `os.fork()` has copies of its own.
    """

    def __init__(self, simulator, size):
        self._size = _size_of(size)
        self._native = _npusim.Managed(simulator._managed_cards(), self._size)

    def __repr__(self):
        return f"<npusim.ManagedMemory {self._size} bytes, {self.address:#x}>"

    @property
    def address(self):
        """The address of the first byte, for Python's process and for every card: `int`."""
        return self._native.address

    def prefetch(self, device=None, nbytes=None, offset=0):
        """Moves pages; returns when they are there. Pages that nobody has touched stay nowhere.

        Args:
            device: a `Device`, or its number; None: the host.
            nbytes: how many from `offset` on; None: all.
            offset: of the first byte, in bytes.

        Raises:
            Error: `ErrorCode.OUT_OF_RANGE`, they are not inside of the memory;
                `ErrorCode.INVALID_ARGUMENT`, there is no such card; `ErrorCode.OUT_OF_MEMORY`.
        """
        offset = operator.index(offset)
        nbytes = self._size - offset if nbytes is None else operator.index(nbytes)
        if offset < 0 or nbytes < 1:
            raise ValueError(f"{nbytes} bytes from byte {offset} are nothing to move")
        self._native.prefetch(offset, nbytes, _number_of(device))

    def to_host(self, write=True):
        """Brings all of its pages, for other threads, files and sockets; until a kernel uses them.

        Args:
            write: False: they will only be read. Copies of "read_mostly" stay on cards then.

        Raises:
            Error: `ErrorCode.OUT_OF_MEMORY`.
        """
        self._native.to_host(bool(write))

    def advise(self, advice, device=None, on=True):
        """Says how all of its pages will be used.

        Args:
            advice: "read_mostly": copies where it is read, until it is written;
                "preferred_location": where it should be; "accessed_by": whose use is to be
                prepared.
            device: a `Device`, or its number, for the last two; None: the host.
            on: False: the advice no longer holds.

        Raises:
            ValueError: no such advice.
            Error: `ErrorCode.INVALID_ARGUMENT`, there is no such card.
        """
        self._native.advise(advice, bool(on), _number_of(device))

    def location(self, offset=0):
        """Where the page of a byte is: the number of a device, -1: the host, None: nowhere yet.

        Args:
            offset: of the byte, in bytes.

        Raises:
            Error: `ErrorCode.OUT_OF_RANGE`, it is not inside of the memory.
        """
        return self._native.location(operator.index(offset))


os.register_at_fork(before=_npusim.ManagedCards.before_fork,
                    after_in_child=_npusim.ManagedCards.in_child)


def _number_of(device):
    return -1 if device is None else operator.index(getattr(device, "index", device))
